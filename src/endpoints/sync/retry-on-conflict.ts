/** Changes without a condition to a store that other instances change too. */
import * as failures from '../management-failures.ts'

/** Of instances that change one endpoint at once, one is the first each time, so all of them get there. */
const MOST_ATTEMPTS = 50

/** `condition`: the If-Match header. Whoever names no version has seen none: where another instance was faster, their change is made to what it left. */
export async function retryOnConflict<T>(condition: string | undefined, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (thrown) {
      if (condition !== undefined || !failures.isStale(thrown)) throw thrown
      if (attempt === MOST_ATTEMPTS) throw failures.storeUnavailable(thrown)
    }
  }
}
