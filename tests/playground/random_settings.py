# SPDX-License-Identifier: MIT
"""Random settings of the playground: processors, counters, buffers, policies and programs."""


def program(random):
    """Up to 24 instructions. Each loop counts down what a SET before it has set, but calls go anywhere."""
    count = random.randint(1, 24)
    made = []
    for _ in range(count):
        name = random.choice(["nop", "add", "dec", "load", "store", "load", "store", "jnz", "jmp", "call", "ret", "set",
                              "syscall"])
        if name in ("jnz", "jmp", "call"):
            name += f":{random.randint(0, count)}"
        elif name == "set":
            name += f":{random.randint(0, 40)}"
        made.append(name)
    return ",".join(made)


def counters(random, cpu, events):
    wanted = {}
    pebs = int(cpu["pebs"], 16)
    for _ in range(random.choice([1, 1, 2, 2, 3, 4])):
        fixed = random.random() < 0.25
        i = random.randrange(min(4, cpu["fixed"]) if fixed else cpu["gp"])
        flags = [random.choice(["u", "u", "k", "uk"])]
        if not pebs >> (32 + i if fixed else i) & 1 or random.random() < 0.15:
            flags.append("plain")
        elif random.random() < 0.1:
            flags.append("int")
        event = "" if fixed else events[random.choice(cpu["events"])] + ":"
        wanted[f"{'fixed' if fixed else 'pmc'}{i}"] = f"{event}{random.randint(1, 9)}:{':'.join(flags)}"
    return wanted


def settings(random, catalog):
    cpu = random.choice(catalog["processors"])
    words = {"cpu": cpu["name"]}
    if random.random() < 0.5:
        words["pmc0"] = "off"
    words.update(counters(random, cpu, catalog["events"]))
    offered = [name for i, name in enumerate(catalog["groups"]) if cpu["groups"] >> i & 1 or random.random() < 0.05]
    groups = [name for name in offered if random.random() < 0.4]
    words["groups"] = ",".join(groups) or "none"
    for key, _, low, high, _, values in catalog["numbers"]:
        if key in ("scene", "stop") or random.random() < 0.45:
            continue
        if key == "records":  # the memory has room for 7 of the largest
            words[key] = random.randint(1, 7)
        elif key == "extra":
            words[key] = random.choice([0, 1, 8, 24, 32])
        elif key == "buffer":
            words[key] = "unmapped" if random.random() < 0.3 else "mapped"
        elif key in ("delay", "threshold", "btsthreshold"):
            words[key] = random.randint(0, 8)
        else:
            words[key] = random.choice(values) if values else random.randint(low, high)
    words["at"] = random.randint(20, 400)
    for name, _, values in catalog["policies"]:
        if random.random() < 0.2:
            words[f"policy.{name}"] = random.choice(values)
    words["program"] = program(random)
    return ";".join(f"{key}={value}" for key, value in words.items())
