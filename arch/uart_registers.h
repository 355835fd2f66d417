/* SPDX-License-Identifier: MIT */
/* The registers of a 16550 UART. National Semiconductor PC16550D datasheet. */
#pragma once

#define THR                  0u /* write; read: RBR; with DLAB: DLL */
#define IER                  1u /* with DLAB: DLM */
#define FCR                  2u /* write; read: IIR */
#define FCR_ENABLE_AND_CLEAR 0x07u
#define IIR_FIFO_MASK        0xC0u /* both set: the FIFOs work (16550A and later) */
#define LCR                  3u
#define LCR_8N1              0x03u
#define LCR_DLAB             0x80u
#define MCR                  4u
#define MCR_DTR              0x01u
#define MCR_RTS              0x02u
#define MCR_OUT1             0x04u
#define MCR_OUT2             0x08u
#define MCR_LOOP             0x10u
#define LSR                  5u
#define LSR_DR               0x01u
#define LSR_THRE             0x20u /* with FIFOs: the transmit FIFO is empty */
#define LSR_TEMT             0x40u /* and the last bit is on the wire */
#define MSR                  6u
#define MSR_LINES            0xF0u /* in loopback mode: DCD = OUT2, RI = OUT1, DSR = DTR, CTS = RTS */
#define MSR_CTS              0x10u
#define MSR_DSR              0x20u
#define MSR_RI               0x40u
#define MSR_DCD              0x80u
