/**
 * The parts of undici that are used. Its index loads fetch, WebSocket, caches and mocks as well: 12 MB of memory and
 * a tenth of a second at every start, for nothing.
 */
import { createRequire } from 'node:module'

type Undici = typeof import('undici')
export type Agent = import('undici').Agent

const require = createRequire(import.meta.url)

export const Agent: Undici['Agent'] = require('undici/lib/dispatcher/agent.js')
export const buildConnector: Undici['buildConnector'] = require('undici/lib/core/connect.js')
export const errors: Undici['errors'] = require('undici/lib/core/errors.js')
