/**
 * Everything that an editor of endpoint documents can complete and explain, from the tables that check documents and run
 * messages: what it offers is what the service accepts.
 */

import { ROLES } from '../../core/access.ts'
import type { FailureKind } from '../../core/failure-kind.ts'
import { FAILURES } from '../../core/failure-table.ts'
import type { JsonObject } from '../../core/json.ts'
import { SOURCES } from '../../core/origin.ts'
import { OUTCOMES } from '../../core/records/message-record.ts'
import { STAGE_NAMES } from '../../core/tracing/stages.ts'
import { CODECS, DESCRIBED_FORMATS } from '../../formats/codecs.ts'
import { describeBuiltIns } from '../../language/jsonata/expression-engine.ts'
import { FUNCTIONS } from '../../language/mapping/mapping-functions.ts'
import { TARGET_KEYS } from '../../language/mapping/mapping-targets.ts'
import { EACH_ROOTS } from '../../language/mapping/nested-entries.ts'
import { PATH_ROOTS } from '../checks/path-roots.ts'
import { describeFields } from './document-fields.ts'
import { VALUE_FORMS } from './value-forms.ts'

export function describeVocabulary(): JsonObject {
  return {
    fields: describeFields(),
    roots: PATH_ROOTS,
    mappingFunctions: Object.entries(FUNCTIONS).map(([name, { means, takes, ...spec }]) => ({
      name,
      signature: `${takes} → ${'gives' in spec ? ((spec.gives({}) as JsonObject).type ?? 'any') : 'any'}`,
      means,
      needsParameters: 'needsParameters' in spec,
      parameters: 'parameters' in spec ? spec.parameters : [],
    })),
    valueForms: VALUE_FORMS,
    mappingTarget: toWords(TARGET_KEYS),
    eachRoots: toWords(EACH_ROOTS),
    expressionFunctions: describeBuiltIns().map(({ name, parameters, signature }) => ({
      name: `$${name}`,
      parameters,
      signature,
    })),
    failures: Object.entries<FailureKind>(FAILURES).map(([code, { status, retry, means }]) => ({
      code,
      status,
      retry,
      means,
    })),
    formats: DESCRIBED_FORMATS,
    contentTypes: Object.values(CODECS).map(({ name, mediaType, aliases, suffix, fileEndings }) => ({
      format: name,
      types: [mediaType, ...aliases],
      fileEndings,
      ...(suffix === undefined ? {} : { suffix: `+${suffix}` }),
    })),
    stages: STAGE_NAMES,
    outcomes: OUTCOMES,
    sources: SOURCES,
    roles: ROLES,
  } as unknown as JsonObject
}

const toWords = (words: Readonly<Record<string, string>>) =>
  Object.entries(words).map(([name, means]) => ({ name, means }))
