/** Processor time of another process, all of its threads, and which processor it may use. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** USER_HZ, which Linux tells user space on every architecture that Node has builds for. */
const TICKS_PER_SECOND = 100;

/** @returns microseconds so far, to 10 ms. Source: /proc/<pid>/stat, fields 14 and 15 (proc(5)) */
export const processorUs = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name, in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1_000_000;
};

/** All threads of a process onto one processor. */
export const pin = (pid: number, cpu: number): void => {
  execFileSync("taskset", ["-a", "-c", "-p", String(cpu), String(pid)], { stdio: "ignore" });
};
