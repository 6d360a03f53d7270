/** Which test files run when: several at once, the same number on every machine, and some of them by themselves. */

/** They share one broker, whose groups and topics would slow down each other's. */
const ONE_AT_A_TIME = 'test/broker/'

/** They judge times, of which others at work beside them would take a part. */
export const ALONE: readonly string[] = ['test/broker/bad-records.test.ts', 'test/broker/neighbours.test.ts']

/** Begun first, so that none of them is left over at the end. */
export const LONGEST: readonly string[] = [
  'test/fuzz/management.test.ts',
  'test/fuzz/mappings.test.ts',
  'test/fuzz/messages.test.ts',
  'test/instances/partition.test.ts',
  'test/messages/full-load.test.ts',
  'test/workers/in-force.test.ts',
  'test/workers/lost.test.ts',
  'test/workers/start-stop.test.ts',
]

/** Most of them wait more than they work: three keep two cores busy. */
const AT_ONCE = 3

/** Runs every file once; `run` never rejects. */
export async function runInLanes(files: readonly string[], run: (file: string) => Promise<void>): Promise<void> {
  const beside = files.filter((file) => !ALONE.includes(file))
  const inTurn = beside.filter((file) => file.startsWith(ONE_AT_A_TIME))
  const others = beside.filter((file) => !file.startsWith(ONE_AT_A_TIME))
  others.sort((one, other) => Number(LONGEST.includes(other)) - Number(LONGEST.includes(one)))
  // Each takes from the front what is left, so that all end at about the same time.
  const lane = async (queue: string[]) => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) await run(file)
  }
  const first = async () => {
    await lane(inTurn)
    await lane(others)
  }
  await Promise.all([first(), ...Array.from({ length: AT_ONCE - 1 }, () => lane(others))])
  await lane(files.filter((file) => ALONE.includes(file)))
}
