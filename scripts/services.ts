/** `npm run services`: runs the services that tests use until Ctrl-C. */
import { once } from 'node:events'
import { startServices } from '../test/support/services/all.ts'

const services = await startServices((line) => console.log(line))
console.log('Running until Ctrl-C.')
const keepAlive = setInterval(() => undefined, 60_000)
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
clearInterval(keepAlive)
await services.stop()
