/** The part of the WebAssembly interface that the optimiser uses; Node has it, the ES library's types lack it. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

interface WebAssemblyApi {
  readonly Memory: new (size: { initial: number; maximum: number }) => WasmMemory;
  instantiate(
    bytes: Uint8Array,
    imports: { env: { memory: WasmMemory } },
  ): Promise<{ readonly instance: { readonly exports: unknown } }>;
}

export const wasm = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;
