/** What acknowledgements of HL7 v2 say of a failure, wherever they are written. */
import { kindForCode } from '../core/failure-table.ts'

/** Of ERR-3: code, text and the name of the table. */
type Hl7Error = readonly [code: string, text: string, table: string]

const TABLE = 'HL70357'
const INTERNAL_ERROR = ['207', 'Application internal error'] as const

/** Of a message that does not start with its header. */
export const SEGMENT_ERROR: Hl7Error = ['100', 'Segment sequence error', TABLE]

export const findHl7Error = (code: string): Hl7Error => [...(kindForCode(code).hl7Error ?? INTERNAL_ERROR), TABLE]

/** `YYYYMMDDHHMMSS.SSS` in UTC. */
export const formatHl7Time = (ms: number): string => `${new Date(ms).toISOString().replace(/[-:TZ]/g, '')}+0000`
