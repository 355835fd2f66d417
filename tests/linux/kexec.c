/* SPDX-License-Identifier: MIT */
/* kexec KERNEL INITRD COMMAND-LINE: goes on with another kernel at once, without ending anything first. */
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const int kernel = open(argv[1], O_RDONLY), initrd = open(argv[2], O_RDONLY);
    if (syscall(SYS_kexec_file_load, kernel, initrd, strlen(argv[3]) + 1, argv[3], 0UL) == 0)
        syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
    perror("kexec");
    return 1;
}
