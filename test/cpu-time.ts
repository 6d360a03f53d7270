/**
 * The processor time that this process takes from the call on, in milliseconds: a bound for work that could take far too
 * long. Unlike time on a clock it does not grow with what else the machine does.
 */
export function startCpuTime(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
}
