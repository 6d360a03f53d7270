/** How figures are written for readers. 1 MB is 1,000,000 bytes. */
export const whole = (value: number): string => Math.round(value).toLocaleString('en-GB')
export const fraction = (value: number): string => value.toFixed(2)
export const milliseconds = (value: number): string => `${value < 100 ? value.toFixed(1) : whole(value)} ms`
export const exactMilliseconds = (value: number): string => `${value.toFixed(2)} ms`
export const seconds = (value: number): string => `${value.toFixed(1)} s`
export const microseconds = (value: number): string => `${value.toFixed(1)} µs`
export const megabytes = (value: number): string => `${whole(value / 1e6)} MB`
export const perSecond = (value: number): string =>
  value < 1e6 ? `${whole(value / 1e3)}k/s` : `${(value / 1e6).toFixed(2)}M/s`
export const percent = (value: number): string => `${Math.round(value * 100)} %`
