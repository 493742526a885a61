/** A limit of the container that a job has reached. An unknown number is undefined. */
export type Exceeded =
  /** `certain` when the kernel says so; else it is the likely reason why the job was killed. */
  | { readonly limit: 'memory'; readonly bytes: number | undefined; readonly certain: boolean }
  | { readonly limit: 'processes'; readonly most: number | undefined }
  | { readonly limit: 'file-size'; readonly bytes: number | undefined };
