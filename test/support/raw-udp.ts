/** UDP datagrams with whatever source they are told: by Python's raw sockets, which Node has none of, and as root only. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

export type RawUdp = {
  readonly to: { readonly address: string; readonly port: number };
  readonly payload: Buffer;
  readonly count: number;
  /** At most; null: as fast as the kernel takes them, and drops them. */
  readonly perSecond: number | null;
  /** null: each from another random address below 224.0.0.0, and another port. */
  readonly from: { readonly address: string; readonly port: number } | null;
  /** Of the random addresses. */
  readonly seed: number;
  /** A network namespace to send in; null: the test's own. */
  readonly namespace: string | null;
};

/** Reads its orders as JSON from its arguments; prints how many the kernel took. */
const PROGRAM = `
import json, random, socket, struct, sys, time
o = json.loads(sys.argv[1])
payload = bytes.fromhex(o["payload"])
dice = random.Random(o["seed"])
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
to = socket.inet_aton(o["to"]["address"])
taken = 0
rate = o["perSecond"]
begun = time.monotonic()
for i in range(o["count"]):
    if rate is not None and i % 50 == 0:
        time.sleep(max(0, i / rate - (time.monotonic() - begun)))
    if o["from"] is None:
        source = struct.pack(">I", dice.randrange(0x01000000, 0xE0000000))
        port = dice.randrange(1024, 65536)
    else:
        source = socket.inet_aton(o["from"]["address"])
        port = o["from"]["port"]
    udp = struct.pack(">HHHH", port, o["to"]["port"], 8 + len(payload), 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), i & 0xffff, 0, 64, 17, 0, source, to)
    try:
        s.sendto(ip + udp + payload, (o["to"]["address"], 0))
        taken += 1
    except OSError:
        pass
print(taken)
`;

/** What is missing for raw sockets; null: nothing. */
export const rawUdpLacks = (): string | null => {
  if (process.getuid?.() !== 0) return "raw sockets are root's";
  return spawnSync("python3", ["-c", "import socket; socket.socket(2, 3, 255)"]).status === 0
    ? null
    : "there is no python3 that may open a raw socket";
};

/** @returns how many the kernel took */
export const sendRawUdp = async ({ to, payload, count, perSecond, from, seed, namespace }: RawUdp): Promise<number> => {
  const order = JSON.stringify({ to, from, count, perSecond, seed, payload: payload.toString("hex") });
  const command = ["python3", "-c", PROGRAM, order];
  const [program = "", ...args] = namespace === null ? command : ["ip", "netns", "exec", namespace, ...command];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return Number(said.toString());
};
