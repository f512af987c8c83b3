# Sourced by the scripts that run in the machine: the names of the simulated storage node's parts, and reading back.
# shellcheck shell=bash disable=SC2034
set -u

# Two ports of one card, each cabled to a port that stands for the switch side and lives in the namespace "peer".
port0=enp59s0f0np0 port1=enp59s0f1np1
pci0=0000:3b:00.0 pci1=0000:3b:00.1
rdma0=rocep59s0f0 rdma1=rocep59s0f1
address0=192.0.2.11 address1=198.51.100.11
peer0=peer0 peer1=peer1
peer_pci0=0000:5e:00.0 peer_pci1=0000:5e:00.1
peer_address0=192.0.2.12 peer_address1=198.51.100.12
knobs=/sys/kernel/debug/nicsim

node=$PWD/tests/vm/node # scripts run in the source tree

# The node that is up, so that a test may share it.
have_node() { # SCRIPT NAME: healthy or mlx5
    [[ -e /sys/class/infiniband/$rdma0 && -f /run/vm/node && $(</run/vm/node) == "$1" ]] || "$node/$1.sh" || exit
}

fail() {
    echo "node: $*" >&2
    exit 1
}

# A step that says yes and changes nothing is common with NICs (`dcb pfc set` exits 0 when the driver refused), so what
# was set is read back.
expect() { # VALUE COMMAND…: the command must print VALUE, blanks aside
    local value=$1 output words
    shift
    output=$("$@" 2>&1) || fail "'$*' says: $output"
    read -rd '' -a words <<<"$output"
    [[ ${words[*]} == "$value" ]] || fail "'$*' says '$output', not '$value'"
}

wait_until() { # SECONDS COMMAND…: until the command succeeds
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

holds() { # FILE VALUE
    [[ $(<"$1") == "$2" ]]
}

write() { # FILE VALUE: writes and reads back
    echo "$2" >"$1" || fail "cannot write $2 to $1"
    holds "$1" "$2" || fail "$1 holds $(<"$1"), not $2"
}

. tests/vm/node/nic.sh
. tests/vm/node/rdma.sh
. tests/vm/node/bond.sh
. tests/vm/node/dcb.sh
. tests/vm/node/aistor.sh
