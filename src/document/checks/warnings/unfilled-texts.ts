/** Warns of `${…}` in texts where nothing fills it: other languages fill such templates, and here it is used unchanged. */
import { isObject, type Json } from '../../../core/json.ts'
import type { LintSink } from '../../../core/lint.ts'
import { almostReference, withoutReferences } from '../../../core/secrets/secrets.ts'
import { collectTextReads } from '../../../language/jsonata/expression-engine.ts'
import { type Endpoint, EndpointField } from '../../schema/schema.ts'
import type { Field } from '../../schema/schema-fields.ts'

/** Of a text: whether references to secrets are filled in it, and what to write in place of a template. */
type TextKind = Readonly<{ hasSecrets?: true; advice: string }>

const TEXT: TextKind = {
  advice: 'Read the value by its path, or join texts in an expression of "inputTransforms".',
}
const WITH_SECRETS: TextKind = { ...TEXT, hasSecrets: true }
const URL_TEXT: TextKind = {
  hasSecrets: true,
  advice: 'Write a placeholder, such as ":id", and the path of its value in "config.params.url".',
}
const LITERAL: TextKind = { advice: 'Join texts with "&", such as "Dr " & requestBody.name.' }
/** Around a value of the message, or in its place. */
const VALUE: TextKind = { advice: 'Join texts in an "expression", such as "Dr " & requestBody.name.' }
const HEADER: TextKind = { ...VALUE, hasSecrets: true }

/** Fields for people, and those with texts of their own: patterns of schemas, and credentials. */
const UNREAD: ReadonlySet<string> = new Set(['description', 'inputValidation', 'auth'])

/** Lints, as warnings: each text with a `${…}` that is no reference to a secret, or that is in a place without secrets. */
export function lintUnfilledTexts(
  { constants, inputTransforms = {}, requests, ...others }: Endpoint,
  lint: LintSink,
): void {
  const filled = Object.values(inputTransforms).filter((text) => FILLS.test(text))
  lintConstants(constants, filled, lint.at('constants'))
  for (const [name, text] of Object.entries(inputTransforms)) {
    if (!filled.includes(text)) lintExpression(text, lint.at('inputTransforms', name))
  }
  for (const kind of ['lookup', 'response'] as const) {
    const field = memberField(memberField(EndpointField, 'requests'), kind).items ?? {}
    for (const [index, { config, ...fields }] of requests[kind].entries()) {
      const sink = lint.at('requests', kind, index)
      // Patterns of schemas are texts of their own.
      lintTexts({ ...fields, validation: null, delivery: null } as Json, TEXT, field, sink)
      if ('delivery' in fields) {
        const { sign, ...rest } = fields.delivery ?? {}
        const deliveryField = memberField(field, 'delivery')
        lintTexts(rest as Json, TEXT, deliveryField, sink.at('delivery'))
        lintTexts(
          sign as Json | undefined,
          WITH_SECRETS,
          memberField(deliveryField, 'sign'),
          sink.at('delivery', 'sign'),
        )
      }
      if (config === undefined) continue
      const { url, headers, auth, ...parameters } = config
      const configField = memberField(field, 'config')
      const at = sink.at('config')
      if (url !== undefined) lintText(url, URL_TEXT, at.at('url'))
      lintTexts(headers ?? {}, HEADER, memberField(configField, 'headers'), at.at('headers'))
      lintTexts(auth, WITH_SECRETS, memberField(configField, 'auth'), at.at('auth'))
      lintTexts(parameters as Json, TEXT, configField, at)
    }
  }
  for (const [name, value] of Object.entries(others)) {
    if (!UNREAD.has(name)) lintTexts(value as Json, TEXT, memberField(EndpointField, name), lint.at(name))
  }
}

/** Calls of functions with which an expression fills a template, or looks for one. */
const FILLS = /\$(?:replace|contains|split|match)\s*\(/

/** Leaves out the constants that the expressions `filled` read. */
function lintConstants(constants: Endpoint['constants'], filled: readonly string[], lint: LintSink): void {
  const read = new Set(JSON.stringify(constants).includes('${') ? filled.flatMap(findConstants) : [])
  for (const [name, value] of Object.entries(constants)) {
    if (!read.has(name)) lintTexts({ [name]: value }, WITH_SECRETS, {}, lint)
  }
}

const findConstants = (text: string): readonly string[] =>
  collectTextReads(text).references.flatMap(([root, name = '']) => (root === 'constants' ? [name] : []))

const LITERALS = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/gs
function lintExpression(text: string, lint: LintSink): void {
  for (const [literal] of text.matchAll(LITERALS)) lintText(literal, LITERAL, lint)
}

const TEMPLATE = /\$\{[^{}]{1,100}\}/

/** `kind`: of a text there, unless the schema says more. */
function lintTexts(value: Json | undefined, kind: TextKind, field: Field, lint: LintSink): void {
  if (typeof value === 'string') {
    if (field.evaluates !== undefined) lintExpression(value, lint)
    else lintText(value, kind.hasSecrets !== true && takesExpression(field) ? VALUE : kind, lint)
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) lintTexts(item, kind, field.items ?? field, lint.at(index))
  } else if (isObject(value)) {
    // No secrets are filled in the texts around a value.
    const ofMembers = takesExpression(field) ? VALUE : kind
    for (const [name, inner] of Object.entries(value)) {
      lintText(name, TEXT, lint.at(name))
      lintTexts(inner, ofMembers, memberField(field, name), lint.at(name))
    }
  }
}

const takesExpression = (field: Field): boolean => objectField(field).properties?.expression !== undefined

const objectField = (field: Field): Field => field.anyOf?.find(({ properties }) => properties !== undefined) ?? field

/** Of a member of an object; without keywords where the schema says nothing of it. */
function memberField(field: Field, name: string): Field {
  const { properties = {}, additionalProperties, readsNames } = objectField(field)
  if (Object.hasOwn(properties, name)) return properties[name] ?? {}
  if (readsNames !== undefined) return { properties: { each: { readsNames }, when: { evaluates: readsNames } } }
  return typeof additionalProperties === 'object' ? additionalProperties : {}
}

function lintText(text: string, { hasSecrets, advice }: TextKind, lint: LintSink): void {
  if (!text.includes('${')) return
  if (hasSecrets && almostReference(text) !== undefined) return
  const [template] = TEMPLATE.exec(hasSecrets ? withoutReferences(text) : text) ?? []
  if (template === undefined) return
  lint.warning(`Nothing fills "${template}" here, and it is used unchanged. ${adviceFor(template) ?? advice}`)
}

/** Undefined where it depends on the place. */
function adviceFor(template: string): string | undefined {
  if (template.startsWith('${value:')) {
    return 'The command line fills it for a target of "crosswalk.json"; publish the document with "crosswalk apply", or write the value.'
  }
  if (/^\$\{(?:env|file):/.test(template)) {
    return 'Secrets are filled in "constants", in "auth", and in the URLs and the header texts of requests only; put it in "constants", and read it there.'
  }
  return undefined
}
