/** THE THREAD of `ordeal.ts` that makes the faults: on the thread that takes the times, their own work would count. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { meetFaults, type Plan, type Service } from '../process/meet-faults.ts'

export type FaultsTask = Readonly<{ service: Service; plan: Plan }>

const LOW_PRIORITY = 10

// The service has the processors first, as one has whose upstreams are on other machines.
if (process.platform === 'linux') setPriority(LOW_PRIORITY)

const { service, plan }: FaultsTask = workerData
parentPort?.postMessage(await meetFaults(service, plan))
