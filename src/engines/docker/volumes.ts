import type { Engine, Labels } from '../engine.ts';
import type { Connection } from './connection.ts';
import { refusal } from './errors.ts';
import { withLabels } from './requests.ts';

interface Volume {
  readonly Name: string;
  readonly Labels: Labels | null;
  readonly CreatedAt: string;
}

export function volumeCalls(connection: Connection): Pick<Engine, 'createVolume' | 'removeVolume' | 'listVolumes'> {
  return {
    createVolume: async (name, labels) => {
      const asked = { what: `create volume ${name}`, place: connection.place };
      const body = { Name: name, Driver: 'local', Labels: labels };
      const made = await connection.ask<Volume>({ what: asked.what, method: 'POST', path: '/volumes/create', body });
      // When there is a volume of that name, the engine answers with it, whatever its labels are.
      const foreign = Object.entries(labels).filter(([label, value]) => made.Labels?.[label] !== value);
      if (foreign.length > 0) throw refusal(asked, 'there is a volume of that name with other labels');
    },
    removeVolume: (name) => {
      const path = `/volumes/${encodeURIComponent(name)}`;
      return connection.tell({ what: `remove volume ${name}`, method: 'DELETE', path, fine: [404] });
    },
    listVolumes: async (labels) => {
      const call = { what: 'list volumes', method: 'GET', path: '/volumes', query: withLabels(labels) } as const;
      const { Volumes } = await connection.ask<{ Volumes: Volume[] | null }>(call);
      return (Volumes ?? []).map(({ Name, Labels, CreatedAt }) => ({
        name: Name,
        labels: Labels ?? {},
        createdAt: CreatedAt,
      }));
    },
  };
}
