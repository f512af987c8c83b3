// validate.mjs MODULES FILE.json: holds a manifest to the Kubernetes API. Exit 1 with the places when it does not fit.
// The types refuse members that the API does not know, the schemas refuse values. Both are made from the API's own OpenAPI document.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const modules = resolve(process.argv[2]);
const manifest = JSON.parse(readFileSync(process.argv[3], 'utf8'));
const entry = `${manifest.apiVersion}/${manifest.kind}`;
const folder = mkdtempSync(join(modules, '.validate-'));
try {
  const file = join(folder, 'manifest.mts');
  writeFileSync(file, `import type { I${manifest.kind} } from 'kubernetes-models/${entry}';\n` +
                      `export const manifest: I${manifest.kind} = ${JSON.stringify(manifest, null, 1)};\n`);
  execFileSync('node', [join(modules, 'typescript/bin/tsc'), '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--moduleResolution', 'nodenext', file],
               { stdio: ['ignore', 'inherit', 'inherit'] });
  writeFileSync(join(folder, 'check.mjs'), `import { ${manifest.kind} } from 'kubernetes-models/${entry}';\n` +
                `import { readFileSync } from 'node:fs';\nnew ${manifest.kind}(JSON.parse(readFileSync(process.argv[2], 'utf8'))).validate();\n`);
  execFileSync('node', [join(folder, 'check.mjs'), resolve(process.argv[3])], { stdio: ['ignore', 'inherit', 'inherit'] });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
