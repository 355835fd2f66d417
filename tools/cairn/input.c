/* SPDX-License-Identifier: MIT */
#include "tools/cairn/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(struct cairn_input *input, int fd)
{
    char *data = NULL;
    size_t size = 0, room = 0;
    for (;;) {
        if (size == room) {
            room = room ? 2 * room : 1 << 16;
            char *grown = realloc(data, room);
            if (!grown) {
                free(data);
                return -ENOMEM;
            }
            data = grown;
        }
        ssize_t n = read(fd, data + size, room - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int e = errno;
            free(data);
            return -e;
        }
        if (n == 0)
            break;
        size += (size_t)n;
    }
    input->data = data;
    input->size = size;
    return 0;
}

int cairn_input_open(struct cairn_input *input, const char *path)
{
    *input = (struct cairn_input){.name = path};
    if (strcmp(path, "-") == 0) {
        input->name = "standard input";
        return read_all(input, STDIN_FILENO);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    struct stat st;
    int e = fstat(fd, &st) ? -errno : 0;
    if (e == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            madvise(map, (size_t)st.st_size, MADV_SEQUENTIAL);
            input->data = map;
            input->size = (size_t)st.st_size;
            input->mapped = true;
            close(fd);
            return 0;
        }
    }
    if (e == 0)
        e = read_all(input, fd);
    close(fd);
    return e;
}

void cairn_input_close(struct cairn_input *input)
{
    if (input->mapped)
        munmap((void *)input->data, input->size);
    else
        free((void *)input->data);
    *input = (struct cairn_input){0};
}
