/** How many messages of a group there were in each of the last 60 minutes, small. */
const HEIGHT = 24
const BAR = 2

export function MinutesBars({ minutes }: Readonly<{ minutes: readonly number[] }>) {
  const max = Math.max(1, ...minutes)
  const sum = minutes.reduce((total, count) => total + count, 0)
  return (
    <svg
      className="block"
      role="img"
      aria-label={`${sum.toLocaleString('en')} in the last hour`}
      width={minutes.length * BAR}
      height={HEIGHT}
    >
      {minutes.map((count, index) => {
        const height = count === 0 ? 1 : Math.max(3, (HEIGHT * count) / max)
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: the minutes of an hour keep their order
            key={index}
            fill={count === 0 ? 'var(--line)' : 'var(--bad)'}
            x={index * BAR}
            y={HEIGHT - height}
            width={BAR - 0.5}
            height={height}
          />
        )
      })}
    </svg>
  )
}
