/** Our own small set of icons. They stand beside a word, so readers of the screen skip them. */

/** Lines on a ground of 16 by 16. */
const PATHS = {
  overview: 'M2 14V8h3v6zM6.5 14V2h3v12zM11 14V5.5h3V14z',
  endpoints: 'M2 4h4v8H2zM10 4h4v8h-4zM6 8h4M8.5 6.5 10 8l-1.5 1.5',
  picture: 'M1.5 6h4v4h-4zM10.5 2h4v4h-4zM10.5 10h4v4h-4zM5.5 7.5l5-3M5.5 8.5l5 3',
  messages: 'M2 3.5h12v9H2zM2 4.5l6 4.5 6-4.5',
  failures: 'M8 2 14.5 13.5h-13zM8 6.5v3M8 11.5v.2',
  replays: 'M13.5 8A5.5 5.5 0 1 1 11.6 3.8M13.5 1.5v3.3h-3.3',
  deliveries: 'M1.5 4h8v7h-8zM9.5 6.5h3l2 2.2V11h-5M4.5 11v2M12 11v2',
  tables: 'M2 3h12v10H2zM2 6.3h12M2 9.7h12M7 3v10',
  unmapped: 'M2 8h3M11 8h3M6.3 6.2a1.8 1.8 0 1 1 2.5 1.6c-.6.3-.8.6-.8 1.2M8 11.3v.2',
  audit: 'M3.5 2h9v12h-9zM6 5.5h4M6 8h4M6 10.5h2.5',
  keys: 'M2 11a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M6.3 9.2 13 2.5M10.5 5l2 2',
  settings: 'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M9 3h3v3H9zM4 10h3v3H4z',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: Readonly<{ name: IconName }>) => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
