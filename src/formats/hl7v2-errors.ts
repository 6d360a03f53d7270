/** What acknowledgements of HL7 v2 say of a failure, wherever they are written. */
import type { FailureCode } from '../core/failure-table.ts'

/** Of ERR-3: code, text and the name of the table. */
type Hl7Error = readonly [code: string, text: string, table: string]

const TABLE = 'HL70357'
const INTERNAL_ERROR: Hl7Error = ['207', 'Application internal error', TABLE]
const ERRORS: ReadonlyMap<string, Hl7Error> = new Map<FailureCode, Hl7Error>([
  ['ROUTE_UNKNOWN', ['200', 'Unsupported message type', TABLE]],
  ['VALIDATION_FAILED', ['102', 'Data type error', TABLE]],
])

/** Of a message that does not start with its header. */
export const SEGMENT_ERROR: Hl7Error = ['100', 'Segment sequence error', TABLE]

export const findHl7Error = (code: string): Hl7Error => ERRORS.get(code) ?? INTERNAL_ERROR

/** `YYYYMMDDHHMMSS.SSS` in UTC. */
export const formatHl7Time = (ms: number): string => `${new Date(ms).toISOString().replace(/[-:TZ]/g, '')}+0000`
