declare module 'piston-client' {
  interface PistonClient {
    runtimes(): Promise<readonly { language: string; version: string }[]>;
    execute(language: string, code: string, options?: object): Promise<object>;
    execute(request: object): Promise<object>;
  }
  export function piston(options: { server: string }): PistonClient;
}
