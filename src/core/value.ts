/**
 * Plain data that crosses the sandbox boundary: arguments in, results out.
 * A JSON value; `-0`, `NaN` and the infinities never cross (the sandbox reports them as strings tagged by `encode`).
 */
export type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };
