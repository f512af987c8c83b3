"""Environment files as people and their tools write them, and such as nobody would: by hand, and generated from a seed."""
import random

BY_HAND = [
    b"", b"\n", b"A=1", b"A=1\n", b"A=1 # note\n", b"A=on # east-west\nB=2\n", b"A=1#note\n", b"A= # note\n", b"#A=1\nB=2\n", b";A=1\nB=2\n", b"  # c\nB=2\n", b"A=;x\n", b"A=#x\n",
    b"export A=1\nB=2\n", b"export\tA=1\n", b"exportA=1\n", b"export=1\n", b"A = 1\n", b"A =1\n", b"A= 1\n", b"A\t=\t1\n", b" A=1\n", b"\tA=1\n", b"A=1   \n", b"A=1\t\t\n", b"A=  1  2  \n",
    b"# note \\\nA=1\nB=2\n", b"; note \\\nA=1\nB=2\n", b"# note \\\n# more \\\nA=1\nB=2\n", b"# note \\\r\nA=1\nB=2\n", b"# note \\ \nA=1\n", b"# note \\\\\nA=1\nB=2\n", b"# note \\",
    b'A="http://n1/d1 http://n1/d2 \\\n   http://n2/d1"\nB=2\n', b"A=one\\\ntwo\nB=2\n", b"A=one \\\n  two\n", b"A=one\\", b"A=one\\\n", b"A\\\nB=1\n", b"A=\\\nB=1\n", b"A=1\\\n\nB=2\n",
    b"A=1\nA=2\n", b"A=1\nA=\n", b"A=on\nA=off\nA=on\n", b'A="on"\n', b"A='on'\n", b'A="on "\n', b"A='on '\n", b'A=" on"\n', b'A="on" # note\n', b"A='on' # note\n", b'A="on"x\n', b'A="on" x\n',
    b'A=""\n', b"A=''\n", b'A="a"\'b\'c\n', b"A=a\"b\"\n", b"A=a'b c'd\n", b'A=a"b\n', b"A=it's\n", b'A="it\'s"\n', b"A='say \"x\"'\n", b'A="--console-address ":9001""\n', b'A="x" "y"\n',
    b'A="open\nB=2\n', b"A='open\nB=2\n", b'A="open', b"A='open", b'A="a\nb"\nC=3\n', b"A='a\nb'\nC=3\n", b'A="a\\\nb"\n', b"A='a\\\nb'\n", b'A="a\\"b"\n', b"A='a\\'b'\n", b"A='a\\'\nB='b'\n",
    b'A="a\\nb"\n', b"A=a\\nb\n", b"A='a\\nb'\n", b'A="a\\\\b"\n', b"A=a\\\\b\n", b'A="\\$x \\`y"\n', b"A=\\$x\n", b'A="\\x41"\n', b"A=\\x41\n", b'A="\\t"\n', b"A=a\\ b\n", b"A=a\\#b\n", b'A=\\"x\\"\n', b"A=x\\ \n",
    b"A=$B\nB=1\n", b"A=${B}\n", b"A=$(id)\n", b"A=`id`\n", b"A=%n\n", b"A=%%\n", b"A=%\n", b"A=a=b=c\n", b"A==\n", b"=1\nB=2\n", b"A\nB=2\n", b"A B=1\n", b"A-B=1\n", b"A.B=1\n", b"1A=1\n", b"_=1\n", b"a1_=1\n",
    b"A=1\r\nB=2\r\n", b"A=on\r\n", b"A='on'\r\n", b'A="on"\r\n', b"A=on \r\n", b"A=on\rB=2\r", b"A=a\rb\n", b"A=one\\\r\ntwo\r\n", b"# c\r\nA=1\r\n", b"\r\nA=1\r\n", b"A=\r\nB=2\n", b"A=1\r", b'A="a\r\nb"\r\n', b"A\r\n=1\n",
    b"\xef\xbb\xbfA=1\nB=2\n", b"\xef\xbb\xbf\nA=1\n", b"\xef\xbb\xbf# c\nA=1\n", b"A=\xef\xbb\xbf1\n", b"\xff\xfeA\x00=\x001\x00\n\x00",
    b"A=\xc3\xa4\n", b"A=\xe4\nB=2\n", b"\xe4=1\nB=2\n", b"A=\xff\n", b"A=1\n# \xff\nB=2\n", b"A=\xc0\x80\n", b"A=\xed\xa0\x80\n", b"A=\xf4\x90\x80\x80\n", b"A=\xef\xbf\xbf\n", b"\xc3\xa4=1\nB=2\n",
    b"A=1\x00\nB=2\n", b"\x00", b"A=1\nB=\x00", b"A=\x01\n", b"A=\x7f\n", b"A=\x1b[31m\n", b"A=a\tb\n", b"A=\x0b1\n", b"A=1\x0c\n", b"A=\xc2\xa01\n", b"A=\xe2\x80\x9con\xe2\x80\x9d\n",
    b"A=" + b"x" * 5000 + b"\n", b"A" * 300 + b"=1\n", b'MINIO_VOLUMES="https://n{1...4}.example.net:9000/mnt/disk{1...4}/minio https://n{5...12}.example.net:9000/mnt/disk{1...8}/minio"\n',
    b"PATH=/x\n", b"HOME=/x\n", b"LANG=xx\n", b"LC_ALL=xx\n", b"USER=me\n", b"SHELL=/x\n", b"INVOCATION_ID=mine\n", b"SYSTEMD_EXEC_PID=7\n", b"LISTEN_FDS=3\n", b"MAINPID=1\n", b"TERM=x\n", b"JOURNAL_STREAM=1:2\n",
]

PIECES = [b"on", b"off", b"A", b"=", b" ", b"  ", b"\t", b'"', b'"', b"'", b"'", b"\\", b"\\\n", b"\\\r\n", b"\n", b"\r\n", b"\r", b"#", b" # note", b";", b"$A", b"${B}", b"`", b"%n", b"\\n", b"\\x41", b"\\$",
          b"\xc3\xa4", b"http://n{1...4}/d", b"x", b"export ", b"\x01", b"\xe2\x80\x9c"]
NAMES = [b"A", b"B", b"MINIO_VOLUMES", b"MINIO_RDMA_INTERNODE", b"_x", b"1A", b"A-B", b"export C", b"\xef\xbb\xbfD", b"E F", b"", b"#G", b"; H"]
ENDS = [b"\n"] * 6 + [b"\r\n", b"\\\n", b"\r", b""]


def generated(count, seed):
    rng = random.Random(seed)

    def some(most):
        return b"".join(rng.choice(PIECES) for _ in range(rng.randint(0, most)))

    for _ in range(count):
        if rng.random() < 0.3:
            text = some(20)
        else:
            text = b""
            for _ in range(rng.randint(1, 7)):
                quote = rng.choice([b"", b"", b'"', b"'"])
                text += rng.choice([b"", b"", b" "]) + rng.choice(NAMES) + rng.choice([b"=", b"=", b"=", b" = ", b"= "]) + quote + some(5) + quote + rng.choice([b"", b"", b" "]) + rng.choice(ENDS)
        if rng.random() < 0.04:
            at = rng.randint(0, len(text))
            text = text[:at] + rng.choice([b"\xff", b"\x00"]) + text[at:]
        yield text
