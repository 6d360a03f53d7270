/**
 * Values of a mapping that are no path of the message, as forms: a constant, or an expression that is made of what somebody chose.
 * An editor fills the template in and writes it below `at`; an entry of the mapping then reads it.
 */

type Parameter = Readonly<{
  name: string
  title: string
  /** What replaces its place in the template: a path or several, separated by commas; a text literal; JSON; or what was typed, unchanged. */
  kind: 'path' | 'paths' | 'text' | 'json' | 'expression'
  /** Texts that are offered, and what people call them. */
  choices?: readonly Readonly<{ value: string; title: string }>[]
  default?: string
  mayBeEmpty?: true
}>

export type ValueForm = Readonly<{
  name: string
  title: string
  means: string
  at: 'constants' | 'inputTransforms'
  /** `{name}` is the place of a parameter. */
  template: string
  parameters: readonly Parameter[]
}>

const ISO_DATE = '[Y0001]-[M01]-[D01]'

const DATES = [
  { value: '[D01]/[M01]/[Y0001]', title: 'dd/mm/yyyy' },
  { value: '[M01]/[D01]/[Y0001]', title: 'mm/dd/yyyy' },
  { value: '[D01].[M01].[Y0001]', title: 'dd.mm.yyyy' },
  { value: '[D01]-[M01]-[Y0001]', title: 'dd-mm-yyyy' },
  { value: '[Y0001][M01][D01]', title: 'yyyymmdd' },
  { value: ISO_DATE, title: 'yyyy-mm-dd (ISO)' },
  { value: '[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01]Z', title: 'yyyy-mm-ddThh:mm:ssZ (ISO)' },
]

// A missing value or null makes nothing.
export const VALUE_FORMS: readonly ValueForm[] = [
  {
    name: 'constant',
    title: 'Constant',
    means: 'The same value for every message.',
    at: 'constants',
    template: '{value}',
    parameters: [{ name: 'value', title: 'Value', kind: 'json' }],
  },
  {
    name: 'join',
    title: 'Joined texts',
    means: 'Several fields as one text; those that are missing are left out.',
    at: 'inputTransforms',
    template: '$join([{sources}][$ != null].$string(), {separator})',
    parameters: [
      { name: 'sources', title: 'Fields, separated by commas', kind: 'paths' },
      { name: 'separator', title: 'Text between them', kind: 'text', default: ' ', mayBeEmpty: true },
    ],
  },
  {
    name: 'date',
    title: 'Date in another format',
    means: 'Reads a date or time in one format and writes it in another. Times are in UTC.',
    at: 'inputTransforms',
    template: '$fromMillis($toMillis({source}[$ != null], {from}), {to})',
    parameters: [
      { name: 'source', title: 'Field', kind: 'path' },
      { name: 'from', title: 'Format of the field', kind: 'text', choices: DATES, default: '[D01]/[M01]/[Y0001]' },
      { name: 'to', title: 'Format that is written', kind: 'text', choices: DATES, default: ISO_DATE },
    ],
  },
  {
    name: 'number',
    title: 'Number in a format',
    means: 'Writes a number, or a text that has one, as a text.',
    at: 'inputTransforms',
    template: '$formatNumber($number({source}[$ != null]), {picture})',
    parameters: [
      { name: 'source', title: 'Field', kind: 'path' },
      {
        name: 'picture',
        title: 'Format',
        kind: 'text',
        choices: [
          { value: '0', title: '1235' },
          { value: '0.00', title: '1234.50' },
          { value: '#,##0.00', title: '1,234.50' },
          { value: '00000000', title: '00001235' },
        ],
        default: '0.00',
      },
    ],
  },
  {
    name: 'expression',
    title: 'Expression (JSONata)',
    means: 'Anything that can be computed from the message.',
    at: 'inputTransforms',
    template: '{expression}',
    parameters: [{ name: 'expression', title: 'Expression', kind: 'expression' }],
  },
]
