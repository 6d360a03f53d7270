/** What compiling a response request with `delivery` adds: the rules of its attempts, and the key that keeps its order. */
import type { DeliveryRequest, DeliveryRules, NewDelivery } from '../../core/deliveries/delivery.ts'
import { Failure } from '../../core/failure.ts'
import { readDuration } from '../../core/iso-time.ts'
import type { LintSink } from '../../core/lint.ts'
import type { SecretSource } from '../../core/secrets/secrets.ts'
import type { ResponseRequest } from '../../document/schema/schema.ts'
import { ASSUMED_DELIVERY } from '../../document/schema/schema-delivery.ts'
import {
  type CallScope,
  compileParameter,
  type Evaluated,
  type Parameter,
  parameterText,
  type Reader,
} from './request-parameters.ts'
import { lintReferences } from './secret-references.ts'

/** What is stored of a request, but its body and what is of the message as a whole. */
export type StoredCall = Readonly<{ request: Omit<DeliveryRequest, 'contentType'> }> &
  Pick<NewDelivery, 'target' | 'orderKey'>

type Storing = Readonly<{ rules: DeliveryRules; orderKey: Parameter | undefined }>

/** `lint`: at `delivery`. Undefined: the request is not durable. */
export function compileStoring(
  { delivery }: ResponseRequest,
  reader: Reader,
  secrets: SecretSource,
  lint: LintSink,
): Storing | undefined {
  if (delivery === undefined) return undefined
  const { key, schedule = ASSUMED_DELIVERY.schedule, giveUpAfter = ASSUMED_DELIVERY.giveUpAfter, sign } = delivery
  const signWith = sign === undefined ? undefined : [sign.secret].flat()
  for (const secret of signWith ?? []) lintReferences(secret, secrets, lint.at('sign', 'secret'))
  const sink = lint.at('key')
  // A path is written in place of the object that could hold it.
  const whole = typeof key === 'string' ? { ...sink, at: () => sink } : sink
  const [orderKey] =
    key === undefined ? [] : compileParameter('key', typeof key === 'string' ? { path: key } : key, reader, whole)
  return {
    rules: {
      scheduleMs: schedule.map(readDuration),
      giveUpAfterMs: readDuration(giveUpAfter),
      ...(signWith === undefined ? {} : { signWith }),
    },
    orderKey,
  }
}

const MAX_KEY_CHARACTERS = 1_024

/** Undefined if it finds nothing. Fails with PARAMETER_INVALID. */
export function fillOrderKey(key: Parameter, scope: CallScope, evaluated: Evaluated): string | undefined {
  const text = parameterText(key, scope, evaluated, 'be the key of a delivery')
  if (text === undefined || (text.length <= MAX_KEY_CHARACTERS && !text.includes('\0'))) return text
  const why =
    text.length > MAX_KEY_CHARACTERS ? `of more than ${MAX_KEY_CHARACTERS} characters` : 'with a NUL character'
  throw new Failure('PARAMETER_INVALID', `"${key.text}" gave a text ${why}, which cannot be the key of a delivery.`, {
    path: key.path,
  })
}

/** The origin of a URL with references in its path; the URL itself if it goes to no URL. */
export const shownOrigin = (url: string): string => {
  const parsed = URL.parse(url)
  if (parsed === null) return url
  return parsed.origin === 'null' ? `${parsed.protocol}//${parsed.host}` : parsed.origin
}
