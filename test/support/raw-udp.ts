/** UDP datagrams with whatever source they are told: by Python's raw sockets, which Node has none of. */
import type { Place } from "./place.ts";

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
  /** Where raw sockets may be opened: a namespace of the test's own, or anywhere for root. */
  readonly within: Pick<Place, "run">;
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

/** @returns how many the kernel took. @throws {Error} with what the sender said, where it could not begin */
export const sendRawUdp = async ({ within, payload, ...order }: RawUdp): Promise<number> => {
  const words = JSON.stringify({ ...order, payload: payload.toString("hex") });
  const { exitCode, stdout, stderr } = await within.run(["python3", "-c", PROGRAM, words]);
  if (exitCode !== 0) throw new Error(stderr);
  return Number(stdout);
};
