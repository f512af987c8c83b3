/* A stand-in for the AIStor server: reads its settings from the environment, and with RDMA switched on opens a verbs device, pins memory,
 * connects two RC queue pairs, moves a block with RDMA WRITE WITH IMMEDIATE, and goes on owning them; without RDMA, or when any step
 * fails, it serves over TCP and says nothing, as the real one does. What really happened stands in the file of STANDIN_REPORT.
 *
 * Built twice: with STANDIN_RDMA it needs libs3rdma.so.0, without it is the standard build, which ignores every RDMA setting.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char release[] = "RELEASE.2026-09-01T00-00-00Z";

static void say(const char* what, const char* why) {
    FILE* file = fopen(getenv("STANDIN_REPORT") ? getenv("STANDIN_REPORT") : "/dev/null", "w");
    if (!file) return;
    fprintf(file, "%s%s%s\n", what, *why ? ": " : "", why);
    fclose(file);
}

static void serve(int port) {
    const int one = 1, sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(sock, (struct sockaddr*)&address, sizeof address) != 0 || listen(sock, 16) != 0) fprintf(stderr, "port %d: %s\n", port, strerror(errno));
}

/* Type=notify, sd_notify(3). */
static void ready(void) {
    const char* path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || strlen(path) >= sizeof address.sun_path) return;
    memcpy(address.sun_path, path, strlen(path));
    if (*path == '@') address.sun_path[0] = 0;
    const int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sendto(sock, "READY=1", 7, 0, (struct sockaddr*)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
    close(sock);
}

#ifdef STANDIN_RDMA
#include <infiniband/verbs.h>
#include <sys/mman.h>

int s3rdma_stub(void);

enum { BLOCK = 65536 };

/* The settings' defaults as the tool's own table has them; the machine is small, so they are set in its environment file. */
static size_t number(const char* name, size_t otherwise) {
    const char* text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static int usable_gid(struct ibv_context* device, union ibv_gid* gid) {
    struct ibv_port_attr port;
    if (ibv_query_port(device, 1, &port) != 0 || port.state != IBV_PORT_ACTIVE) return -1;
    for (int index = 0; index < port.gid_tbl_len; ++index)
        if (ibv_query_gid(device, 1, index, gid) == 0 && gid->raw[10] == 0xff && gid->raw[11] == 0xff) return index;
    return -1;
}

static int connected(struct ibv_qp* from, struct ibv_qp* to, const union ibv_gid* gid, int index) {
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    if (ibv_modify_qp(from, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) return 0;
    struct ibv_qp_attr b = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = to->qp_num, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
                            .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = *gid, .sgid_index = (unsigned char)index, .hop_limit = 64}}};
    if (ibv_modify_qp(from, &b, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) return 0;
    struct ibv_qp_attr c = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    return ibv_modify_qp(from, &c, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0;
}

/* NULL when all went well, else the step that failed. */
static const char* use_rdma(void) {
    int count = 0, index = -1;
    union ibv_gid gid;
    struct ibv_device** list = ibv_get_device_list(&count);
    struct ibv_context* device = NULL;
    for (int i = 0; i < count && index < 0; ++i) {
        device = ibv_open_device(list[i]);
        index = device ? usable_gid(device, &gid) : -1;
    }
    if (index < 0) return "no device with a usable GID opens";
    struct ibv_pd* domain = ibv_alloc_pd(device);
    struct ibv_cq* queue = ibv_create_cq(device, 64, NULL, NULL, 0);
    if (!domain || !queue) return "no protection domain or completion queue";
    const size_t pool = number("MINIO_RDMA_POOL_COUNT", 16) * number("MINIO_RDMA_POOL_BUF_SIZE", 1 << 20);
    char* memory = mmap(NULL, pool, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_mr* region = memory == MAP_FAILED ? NULL : ibv_reg_mr(domain, memory, pool, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (!region) return errno == ENOMEM ? "the pool cannot be pinned (memlock)" : "the pool cannot be registered";
    struct ibv_qp_init_attr init = {.send_cq = queue, .recv_cq = queue, .qp_type = IBV_QPT_RC, .cap = {8, 8, 1, 1, 0}};
    struct ibv_qp *a = ibv_create_qp(domain, &init), *b = ibv_create_qp(domain, &init);
    if (!a || !b || !connected(a, b, &gid, index) || !connected(b, a, &gid, index)) return "the queue pairs do not connect";
    struct ibv_recv_wr receive = {.wr_id = 1}, *bad_receive;
    struct ibv_sge piece = {(uintptr_t)memory, BLOCK, region->lkey};
    struct ibv_send_wr write = {.wr_id = 2, .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .send_flags = IBV_SEND_SIGNALED,
                                .wr = {.rdma = {(uintptr_t)memory + BLOCK, region->rkey}}}, *bad_write;
    memset(memory, 7, BLOCK);
    if (ibv_post_recv(b, &receive, &bad_receive) || ibv_post_send(a, &write, &bad_write)) return "the write cannot be posted";
    for (int done = 0, tries = 0; done < 2; ++tries) {
        struct ibv_wc completion;
        const int got = ibv_poll_cq(queue, 1, &completion);
        if (got < 0 || (got > 0 && completion.status != IBV_WC_SUCCESS) || tries > 5000) return "the write does not arrive";
        done += got;
        if (!got) usleep(1000);
    }
    return memory[2 * BLOCK - 1] == 7 ? NULL : "the bytes did not arrive";
}
#endif

int main(int count, char** arguments) {
    if (count > 1 && strcmp(arguments[1], "--version") == 0) {
        printf("minio version %s\n", release);
#ifdef STANDIN_RDMA
        puts("Features: GPU-Direct RDMA");
#endif
        return 0;
    }
    serve(9000);
#ifdef STANDIN_RDMA
    const char* internode = getenv("MINIO_RDMA_INTERNODE");
    const char* failed = internode && strcmp(internode, "on") == 0 && s3rdma_stub() ? use_rdma() : "not switched on";
    if (!failed) serve(5555);
    say(failed ? "tcp" : "rdma", failed ? failed : "");
#else
    say("tcp", "the standard build");
#endif
    ready();
    for (;;) pause();
}
