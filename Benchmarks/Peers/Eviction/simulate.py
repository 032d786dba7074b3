"""Other policies, from libCacheSim (https://libcachesim.com, Yang and others): `eviction NAME TRACE SHARE=COST…`.

LRU, FIFO and CLOCK are folklore. ARC: Megiddo and Modha, FAST 2003. LIRS: Jiang and Zhang, SIGMETRICS 2002. GDSF: Cherkasova, HP 1998.
W-TinyLFU: Einziger, Friedman and Manes, ACM TOS 2017. S3-FIFO: Yang and others, SOSP 2023. SIEVE: Zhang and others, NSDI 2024.
The optimum for objects of one size: Belady, IBM Systems Journal 1966. It is not optimal for different sizes.
"""

import os
import signal
import sys

import libcachesim
from libcachesim import TraceReader, TraceType

POLICIES = {
    "LRU": libcachesim.LRU, "FIFO": libcachesim.FIFO, "CLOCK": libcachesim.Clock, "SIEVE": libcachesim.Sieve,
    "S3-FIFO": libcachesim.S3FIFO, "ARC": libcachesim.ARC, "LIRS": libcachesim.LIRS,
    "W-TinyLFU 1 %": lambda cost, **rest: libcachesim.WTinyLFU(cost, window_size=0.01, **rest),
    "W-TinyLFU 10 %": lambda cost, **rest: libcachesim.WTinyLFU(cost, window_size=0.1, **rest),
    "GDSF": libcachesim.GDSF, "Belady": libcachesim.Belady,
}


def main():
    _, name, trace, *shares = sys.argv[1:]
    for share, cost in (argument.split("=") for argument in shares):
        for policy, make in POLICIES.items():
            # In a separate process, because some policies crash with a cache of a few objects.
            child = os.fork()
            if child == 0:
                signal.alarm(120)
                simulate(f"{name}/{share}", trace, int(cost), policy, make)
                sys.stdout.flush()
                os._exit(0)
            os.waitpid(child, 0)


def simulate(workload, trace, cost, policy, make):
    reader = TraceReader(trace, TraceType.ORACLE_GENERAL_TRACE)
    # Enough buckets for these objects. The default is for many millions.
    objects, bytes_ = make(cost, hashpower=17).process_trace(reader)
    print(f"eviction,{workload},{policy},1,object_misses,{objects}")
    print(f"eviction,{workload},{policy},1,byte_misses,{bytes_}")


if __name__ == "__main__":
    main()
