/**
 * A client that asks the broker for committed records and hands over its answer as it is. Where the client itself is asked for
 * committed records, it leaves out all records of a producer from its last aborted transaction on up to the last mark of an
 * abort, committed ones as well.
 */
import { type Callback, Consumer, FetchIsolationLevels, kGetApi } from '@platformatic/kafka'
import { clientOptions, ignoreErrors, type KafkaSettings } from '../../../outbound/kafka/kafka-client.ts'

/** `args`: the connection, and the fields of the request (https://kafka.apache.org/protocol#The_Messages_Fetch) in their order. */
type FetchApi = Readonly<{ version: number }> & ((...args: unknown[]) => void)
const ISOLATION_LEVEL = 4

class Fetcher extends Consumer {
  override [kGetApi](name: string, callback: Callback<never>): void {
    super[kGetApi](name, (error, api) => {
      if (name !== 'Fetch' || error !== null || api === undefined) callback(error, api as never)
      else callback(null, committedOnly(api as FetchApi) as never)
    })
  }
}

function committedOnly(api: FetchApi): FetchApi {
  const call = (...args: unknown[]) => api(...args.with(ISOLATION_LEVEL, FetchIsolationLevels.READ_COMMITTED))
  return Object.assign(call, { version: api.version })
}

/** A client of the group that never joins it, without retries. Its calls reject with their own errors. */
export function openFetcher(settings: KafkaSettings, groupId: string): Consumer {
  const client = new Fetcher({ ...clientOptions(settings), groupId, autocommit: false, retries: 0 })
  ignoreErrors(client)
  return client
}
