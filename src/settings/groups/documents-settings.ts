/** The settings that bound endpoint documents. */
import { choice, largeSize, type Setting, size, wholeNumber } from '../setting-kinds.ts'

export const documents = {
  documentLimitBytes: {
    name: 'DOCUMENT_LIMIT',
    kind: size(100),
    default: '256kb',
    means:
      'The largest endpoint document, measured as stored: with every default, as JSON without white space, without the fields that the service sets. `PARSER_LIMIT` bounds the body of the call.',
  },
  tablesMaxBytes: {
    name: 'TABLES_MAX_BYTES',
    kind: largeSize(1_000),
    default: '512mb',
    means: 'The most memory that all tables together take in one process; also the most bytes of one that is sent.',
  },
  batchLimitBytes: {
    name: 'BATCH_LIMIT',
    kind: size(512),
    default: '64mb',
    means: 'The largest body of `POST /endpoints/batch`; a larger one is answered with 413.',
  },
  documentMaxMappings: {
    name: 'DOCUMENT_MAX_MAPPINGS',
    kind: wholeNumber(1, 1_000_000),
    default: '2000',
    means:
      'The most entries of mappings in one endpoint document: of `inputMapping` and of those of requests together.',
  },
  documentMaxRequests: {
    name: 'DOCUMENT_MAX_REQUESTS',
    kind: wholeNumber(1, 100_000),
    default: '100',
    means: 'The most requests of one endpoint document, lookups and responses together.',
  },
  testsOnChange: {
    name: 'TESTS_ON_CHANGE',
    kind: choice('off', 'warn', 'require'),
    default: 'warn',
    means:
      'What a change of an endpoint does if its stored tests fail with the new document. `off`: they do not run. `warn`: the answer names them as warnings. `require`: the change is refused with 409.',
  },
  compiledEndpointsBytes: {
    name: 'COMPILED_ENDPOINTS_MEMORY',
    kind: size(100_000),
    default: '128mb',
    means:
      'About how much memory compiled endpoints may take in each of the `WORKERS`. Beyond it, those that no message used in the last minute are dropped; the next message of such an endpoint compiles it again, which takes milliseconds.',
  },
  maxEndpoints: {
    name: 'MAX_ENDPOINTS',
    kind: wholeNumber(1, 1_000_000),
    default: '20000',
    means:
      'The most endpoints; one more is answered with 409. Instances that register at the same moment may exceed it by one each.',
  },
} as const satisfies Record<string, Setting<unknown>>
