/** Moves the dates in texts by a number of days. A date keeps its form and its length, and stays a valid date. */

/** A form of dates that starts at a place of a text; `shift` gives undefined if the text is no date after all. */
export type DateForm = Readonly<{
  pattern: RegExp
  /** In: the groups of the match, and the days to add. */
  shift(groups: readonly string[], days: number): string | undefined
}>

type Day = Readonly<{ year: number; month: number; day: number }>

const DAY_MS = 86_400_000

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const MONTH = '(0[1-9]|1[0-2])'
const DAY = '(0[1-9]|[12]\\d|3[01])'
const ZONE = '(?:Z|[+-]\\d\\d:?\\d\\d)?'
const CLOCK = `(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-6]\\d(?:[.,]\\d+)?)?${ZONE}`

/** Years outside of this range stand for a missing date, such as 9999-12-31. */
const isOfPeople = (year: number): boolean => year >= 1800 && year < 2100

/** Undefined for a day that the calendar does not have. */
function shiftDay({ year, month, day }: Day, days: number): Day | undefined {
  const time = new Date(Date.UTC(year, month - 1, day))
  if (time.getUTCMonth() !== month - 1) return undefined
  const shifted = new Date(time.getTime() + days * DAY_MS)
  return { year: shifted.getUTCFullYear(), month: shifted.getUTCMonth() + 1, day: shifted.getUTCDate() }
}

const padded = (value: number, length = 2): string => String(value).padStart(length, '0')

const at = (pattern: string): RegExp => new RegExp(pattern, 'iy')

export const DATE_FORMS: readonly DateForm[] = [
  {
    pattern: at(`(?<!\\d)(\\d{4})([-/.])${MONTH}\\2${DAY}((?:[T ]${CLOCK})?)(?!\\d)`),
    shift: ([text = '', year, mark = '', month, day, clock = ''], days) => {
      if (!isOfPeople(Number(year))) return text
      const moved = shiftDay({ year: Number(year), month: Number(month), day: Number(day) }, days)
      return moved && [moved.year, padded(moved.month), padded(moved.day)].join(mark) + clock
    },
  },
  // As HL7 v2 and DICOM write it.
  {
    pattern: at(
      `(?<!\\d)((?:1[89]|20)\\d\\d)${MONTH}${DAY}((?:(?:[01]\\d|2[0-3])(?:[0-5]\\d){1,2}(?:\\.\\d+)?${ZONE})?)(?!\\d)`,
    ),
    shift: ([, year, month, day, clock = ''], days) => {
      const moved = shiftDay({ year: Number(year), month: Number(month), day: Number(day) }, days)
      return moved && `${moved.year}${padded(moved.month)}${padded(moved.day)}${clock}`
    },
  },
  {
    pattern: at(`(?<![\\d-])(\\d{4})-${MONTH}(?![-\\d])`),
    shift: ([text = '', year, month], days) => {
      if (!isOfPeople(Number(year))) return text
      const moved = shiftDay({ year: Number(year), month: Number(month), day: 15 }, days)
      return moved && `${moved.year}-${padded(moved.month)}`
    },
  },
  // As headers of HTTP and mail write it.
  {
    pattern: at(
      `(?<![\\p{L}\\d])((?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?)${DAY}([ -])(${MONTHS.join('|')})\\3(\\d{4})((?: ${CLOCK})?(?: (?:GMT|UTC))?)(?!\\d)`,
    ),
    shift: ([text = '', weekday = '', day, mark = '', month = '', year, clock = ''], days) => {
      if (!isOfPeople(Number(year))) return text
      const index = MONTHS.findIndex((name) => name.toLowerCase() === month.toLowerCase())
      const moved = shiftDay({ year: Number(year), month: index + 1, day: Number(day) }, days)
      if (moved === undefined) return undefined
      const name = inCaseOf(month, MONTHS[moved.month - 1] ?? '')
      return `${weekday}${[padded(moved.day), name, moved.year].join(mark)}${clock}`
    },
  },
  {
    pattern: at(`(?<!\\d)(\\d{1,2})([./-])(\\d{1,2})\\2(\\d{4})(?!\\d)`),
    shift: shiftEitherOrder,
  },
  { pattern: at(`(?<!\\d)${CLOCK}(?!\\d)`), shift: ([text]) => text },
]

/** The year of a text that is nothing but a year; undefined if it is none. */
export function shiftYear(text: string, days: number): string | undefined {
  return /^(?:19|20)\d\d$/.test(text) ? String(Number(text) + yearsOf(days)) : undefined
}

const yearsOf = (days: number): number => (days < 0 ? -1 : 1) * Math.max(1, Math.round(Math.abs(days) / 365))

/**
 * Some write the day first, others the month. If the numbers do not show it, or if the length would change, only the year
 * moves, and the day becomes one that every month has; the date then is valid in both orders.
 */
function shiftEitherOrder(groups: readonly string[], days: number): string | undefined {
  const [text = '', first = '', mark = '', second = '', year] = groups
  if (!isOfPeople(Number(year))) return text
  const [one, other] = [Number(first), Number(second)]
  const isDayFirst = one > 12 || (mark === '.' && other <= 12)
  const isMonthFirst = other > 12 && one <= 12
  if (one > 31 || other > 31 || one === 0 || other === 0 || (one > 12 && other > 12)) return undefined
  if (isDayFirst || isMonthFirst) {
    const [day, month] = isDayFirst ? [one, other] : [other, one]
    const moved = shiftDay({ year: Number(year), month, day }, days)
    if (moved === undefined) return undefined
    const written = isDayFirst ? [moved.day, moved.month] : [moved.month, moved.day]
    const [newFirst, newSecond] = [padded(written[0] ?? 0, first.length), padded(written[1] ?? 0, second.length)]
    if (newFirst.length === first.length && newSecond.length === second.length) {
      return [newFirst, newSecond, moved.year].join(mark)
    }
  }
  const turned = (value: number, width: number): string => {
    const most = width === 1 ? 9 : value > 12 ? 28 : 12
    const least = value > 12 ? 13 : 1
    return padded(least + ((value - least + Math.abs(days)) % (most - least + 1)), width)
  }
  return [turned(one, first.length), turned(other, second.length), Number(year) + yearsOf(days)].join(mark)
}

const inCaseOf = (text: string, name: string): string => {
  if (text === text.toUpperCase()) return name.toUpperCase()
  return text === text.toLowerCase() ? name.toLowerCase() : name
}
