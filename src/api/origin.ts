/** Who asks for a change of an endpoint, and why. */
import { allows, type Caller } from '../core/access.ts'
import { Failure } from '../core/failure.ts'
import { described, object, text } from '../core/schema.ts'
import { NOTE_CHARACTERS, type Origin } from '../core/stored-document.ts'
import type { Call } from './call.ts'

/** As versions show it. */
export const ChangeOrigin = object(
  {},
  {
    address: text,
    who: text,
    name: text,
    note: text,
    testsOverride: described(text, 'The reason for a change although stored tests fail.'),
  },
)

/** Fails with ACCESS_DENIED for callers who may not override the tests of an endpoint. */
export function createOrigin(call: Call): Origin {
  const { remoteAddress } = call.request.socket
  const { caller } = call
  return {
    ...(remoteAddress === undefined ? {} : { address: remoteAddress }),
    ...(caller === undefined ? {} : identified(caller)),
    ...readNote(call),
    ...readOverride(call),
  }
}

/** Callers without credentials have no name: the address is all that is known of them. */
const identified = ({ who, name }: Caller): Origin =>
  who.includes(':') ? { who, ...(name === undefined ? {} : { name }) } : {}

/** The note is for people, so nothing checks it. */
function readNote({ request }: Call): Pick<Origin, 'note'> {
  const note = request.headers['x-crosswalk-change-note']
  return typeof note !== 'string' || note === '' ? {} : { note: headerText(note).slice(0, NOTE_CHARACTERS) }
}

function readOverride({ request, caller }: Call): Pick<Origin, 'testsOverride'> {
  const reason = request.headers['x-crosswalk-override']
  if (typeof reason !== 'string' || reason.trim() === '') return {}
  if (!allows(caller?.roles ?? [], 'admin')) {
    throw new Failure(
      'ACCESS_DENIED',
      'To override the tests of an endpoint (X-Crosswalk-Override), the role admin is needed.',
    )
  }
  return { testsOverride: headerText(reason).trim().slice(0, NOTE_CHARACTERS) }
}

/** Node reads headers as Latin-1; terminals and the console send UTF-8. */
function headerText(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}
