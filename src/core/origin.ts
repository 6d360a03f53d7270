/** Where messages come from. Whatever else depends on it is a column of DOORS, so that a new door is one row. */
import type { Failure } from './failure.ts'
import type { ProduceSlot, RecordProducer } from './ports/record-producer.ts'

/** What brings messages from other systems. */
export type Door = keyof typeof DOORS

export type Origin = DoorOrigin | ReplayOrigin

type DoorOrigin = Readonly<{
  door: Door
  replayOf?: undefined
  /** The door tries this message again itself after the failure. */
  triesAgain?(failure: Failure): boolean
  /** The slot of a message among those that arrived in one order, if they do not wait for each other. */
  slot?: ProduceSlot | undefined
  /** What its records go to in place of the producer of the service. */
  producer?: RecordProducer | undefined
}>

/**
 * `door`: the one that the message came through at first; `replayOf`: the message that is replayed, and `original`: the one that
 * came through the door, if that was a replay too.
 */
type ReplayOrigin = Readonly<{ door: Door; replayOf: string; original?: string | undefined }>

export type DoorTraits = Readonly<{
  /** How records of messages name it. */
  source: string
  /** How people read the source, in a list of sources. */
  shown: string
  /** What the summary of an endpoint says of the door, after these words; undefined if that is the route. */
  entrance: Readonly<{ words: string; member: string }> | undefined
  /** How a message arrived, after "Received". */
  arrival: string
  /** What its messages are, after "The message is". */
  messages: string
  /** Every message has a body, or none has; otherwise its method and its sender decide. */
  alwaysHasBody: boolean
  neverHasBody: boolean
  /** The sender reads the answer; without one, a refusal of a target fails the message. */
  isAnswered: boolean
  /** A sender waits on a connection. */
  isRequest: boolean
  /** The door bounds how many of its messages run at once; otherwise the service does. */
  isPaced: boolean
  /** A message may name an `Idempotency-Key`. */
  isKeyed: boolean
  /** A message may lack a value, which the schema of its endpoint then judges. */
  mayLackValue: boolean
}>

export const DOORS = {
  http: {
    source: 'http',
    shown: 'HTTP',
    entrance: undefined,
    arrival: 'by HTTP',
    messages: 'a request',
    alwaysHasBody: false,
    neverHasBody: false,
    isAnswered: true,
    isRequest: true,
    isPaced: false,
    isKeyed: true,
    mayLackValue: false,
  },
  kafka: {
    source: 'broker',
    shown: 'topic',
    entrance: { words: 'topic', member: 'kafkaConsumerTopic' },
    arrival: 'from a topic',
    messages: 'a record of a topic',
    alwaysHasBody: true,
    neverHasBody: false,
    isAnswered: false,
    isRequest: false,
    isPaced: true,
    isKeyed: false,
    mayLackValue: true,
  },
  mllp: {
    source: 'mllp',
    shown: 'MLLP',
    entrance: { words: 'MLLP port', member: 'mllpPort' },
    arrival: 'over MLLP',
    messages: 'a message over MLLP',
    alwaysHasBody: true,
    neverHasBody: false,
    isAnswered: false,
    isRequest: true,
    isPaced: false,
    isKeyed: false,
    mayLackValue: false,
  },
  schedule: {
    source: 'schedule',
    shown: 'schedule',
    entrance: { words: 'schedule', member: 'timetable' },
    arrival: 'by its schedule',
    messages: 'a run of a schedule',
    alwaysHasBody: false,
    neverHasBody: true,
    isAnswered: false,
    isRequest: false,
    isPaced: false,
    isKeyed: false,
    mayLackValue: false,
  },
} as const satisfies Readonly<Record<string, DoorTraits>>

export const HTTP: Origin = { door: 'http' }

export const REPLAY = 'replay'

/** How messages arrive, as their records name it. */
export type Source = (typeof DOORS)[Door]['source'] | typeof REPLAY

/** The sources of messages that other systems sent. */
export const FIRST_SOURCES: readonly Source[] = Object.values(DOORS).map(({ source }) => source)

export const SOURCES: readonly Source[] = [...FIRST_SOURCES, REPLAY]

/** As people read the sources. */
export const SOURCE_WORDS = Object.fromEntries([
  ...Object.values(DOORS).map(({ source, shown, arrival }) => [source, { shown, arrival }]),
  [REPLAY, { shown: 'replay', arrival: 'as a replay' }],
]) as Readonly<Record<Source, Pick<DoorTraits, 'shown' | 'arrival'>>>

/** The doors beside a route that endpoints have, as their summaries show them. */
export const ENTRANCES = Object.values(DOORS).flatMap(({ entrance }) => entrance ?? [])

export const isReplay = (origin: Origin): origin is ReplayOrigin => origin.replayOf !== undefined

export const classifySource = (origin: Origin): Source => (isReplay(origin) ? REPLAY : DOORS[origin.door].source)

/** The door of a recorded message, where its record names none. */
export const doorOf = (source: Source): Door =>
  (Object.keys(DOORS) as Door[]).find((door) => DOORS[door].source === source) ?? 'http'
