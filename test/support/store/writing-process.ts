/** A process of its own that writes endpoints and states: `node writing-process.ts <file> <first number> <count>`. */
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { endpointOf, idOf, insertEndpoint, stateOf } from '../contracts/records.ts'
import { silent } from '../silent.ts'

const [path = '', first = '', count = ''] = process.argv.slice(2)
const store = await openSqliteStore({ path, logger: silent })
for (let number = Number(first); number < Number(first) + Number(count); number++) {
  await insertEndpoint(store.endpoints, endpointOf(number))
  await store.states.append(idOf(number), stateOf(idOf(number), 200))
}
await store.close()
