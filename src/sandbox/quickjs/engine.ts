import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule, RELEASE_SYNC } from 'quickjs-emscripten';

/** Programs after which an instance is replaced, so that nothing it might leak lasts. */
const MAX_PROGRAMS = 5000;
/** WebAssembly memory never shrinks: an instance that has grown past this many bytes is replaced. */
const MAX_HEAP_BYTES = 192 * 2 ** 20;

/** One instance of the interpreter's WebAssembly module, with a linear memory of its own. */
export class Engine {
  private programs = 0;
  private broken = false;

  private constructor(readonly module: QuickJSWASMModule) {}

  static async load(): Promise<Engine> {
    const silent = (): void => {};
    const variant = newVariant(RELEASE_SYNC, {
      // What the C library prints when it aborts; the abort itself arrives as an exception.
      emscriptenModule: { print: silent, printErr: silent } as object,
    });
    return new Engine(await newQuickJSWASMModuleFromVariant(variant));
  }

  /** Marks that an exception crossed the interpreter's C frames: its stack pointer and heap are no longer sound. */
  discard(): void {
    this.broken = true;
  }

  /** This engine if it is fit for another program, else a new one. */
  async next(): Promise<Engine> {
    this.programs++;
    const { buffer } = this.module.getWasmMemory() as { readonly buffer: ArrayBuffer };
    const fit = !this.broken && this.programs < MAX_PROGRAMS && buffer.byteLength <= MAX_HEAP_BYTES;
    return fit ? this : Engine.load();
  }
}
