import * as fc from 'fast-check';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

const LONGEST = 60;

/** Values that a JSON Schema describes. */
export function fromSchema(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(fromSchema));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  return ofType(schema);
}

function ofType(schema: Schema): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'object':
      return objectFrom(schema);
    case 'array':
      return fc.array(fromSchema(schema.items ?? {}), { maxLength: 4 });
    case 'string':
      return textFrom(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -10, max: schema.maximum ?? 1000 });
    case 'number':
      return fc.double({
        min: schema.exclusiveMinimum ?? 0,
        max: schema.maximum ?? 10,
        minExcluded: true,
        noNaN: true,
      });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.jsonValue();
  }
}

function objectFrom({
  properties = {},
  required = [],
  additionalProperties,
  propertyNames,
}: Schema): fc.Arbitrary<unknown> {
  const entries = Object.entries(properties).map(([name, each]) => [name, fromSchema(each)]);
  const named = fc.record(Object.fromEntries(entries) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: [...required],
  });
  if (typeof additionalProperties !== 'object') return named;
  return fc.dictionary(textFrom(propertyNames ?? {}), fromSchema(additionalProperties), { maxKeys: 3 });
}

function textFrom({ pattern, minLength = 0, maxLength = LONGEST }: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { size: 'small' });
  return fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, LONGEST) });
}

/** The same, and now and then something else in its place or in the place of a part. */
export function spoiled(schema: Schema): fc.Arbitrary<unknown> {
  const right = fromSchema(schema);
  const part = fc.tuple(right, fc.constantFrom(...Object.keys(schema.properties ?? { x: 1 })), fc.jsonValue());
  return fc.oneof(
    { weight: 6, arbitrary: right },
    { weight: 3, arbitrary: part.map(([value, name, other]) => ({ ...(value as object), [name]: other })) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}
