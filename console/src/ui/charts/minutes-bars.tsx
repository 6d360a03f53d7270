/** How many messages there were in each part of the last hour, small; what failed of them in red. */
const HEIGHT = 24
const WIDTH = 120

type MinutesBarsProps = Readonly<{ counts: readonly number[]; failed: readonly number[] }>

export function MinutesBars({ counts, failed }: MinutesBarsProps) {
  const max = Math.max(1, ...counts)
  const sum = counts.reduce((total, count) => total + count, 0)
  const bar = WIDTH / counts.length
  const heightFor = (count: number) => Math.max(3, (HEIGHT * count) / max)
  return (
    <svg
      className="block"
      role="img"
      aria-label={`${sum.toLocaleString('en')} in the last hour`}
      width={WIDTH}
      height={HEIGHT}
    >
      {counts.map((count, index) => {
        const bad = failed[index] ?? 0
        const parts =
          count === 0
            ? [['line', 1] as const]
            : [['accent', heightFor(count)] as const, ['bad', bad && heightFor(bad)] as const]
        return parts.map(([tone, height]) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an hour keep their order
            key={`${index} ${tone}`}
            fill={`var(--${tone})`}
            x={index * bar}
            y={HEIGHT - height}
            width={bar - 0.5}
            height={height}
          />
        ))
      })}
    </svg>
  )
}
