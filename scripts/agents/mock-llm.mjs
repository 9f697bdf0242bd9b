#!/usr/bin/env node
// mock-llm.mjs - a scripted stand-in for a model server, for tests with real coding agents.
//
// One file, Node 20 or newer, no dependencies. On one loopback port it speaks
//   - the Anthropic Messages API      (Claude Code)   POST /v1/messages, .../count_tokens
//   - the OpenAI Responses API        (Codex)         POST /v1/responses
//   - the Gemini API                  (Gemini CLI)    POST /v1beta/models/MODEL:streamGenerateContent, :generateContent, :countTokens
//
// There is no model. The reply is computed from the conversation that the client sends, so the
// server holds (nearly) no state: a resumed or compacted conversation works too.
//
// HOW A TURN IS SCRIPTED
//   A user text (the prompt), or a file that it names, holds lines "MOCK: <directive> ...":
//     MOCK: say TEXT              text in front of the next tool call; after the last one: the final answer
//     MOCK: bash COMMAND          one shell tool call
//     MOCK: bash-json STRING      the same with the command as a JSON string: it may have line feeds
//     MOCK: to-end COMMAND        a shell tool call, and where it is handed back while it runs, the wait for its end
//     MOCK: while CODE COMMAND    the same, again and again as long as it ends with that exit code
//     MOCK: as-taught             where the last tool result says "Write: COMMAND (for ...", a call of that command
//     MOCK: told WORD COMMAND     where a later text without directives holds WORD, it is answered by this shell call
//     MOCK: told /RE/ COMMAND     the same for each match, $1 and so on put in; all such lines that match, in their order
//     MOCK: told-once /RE/ COMMAND  the same for the first match in the conversation
//     MOCK: shown /RE/ A=>B | …   a shell tool call of the first command that stands by itself, four blanks before it, in what
//                                 the conversation holds so far and that fits RE; A is replaced by B
//     MOCK: read-file PATH        one file read (Read for Claude; "cat PATH" in the shell for Codex)
//     MOCK: write-file PATH TEXT  one file write ("\n" in TEXT is a line feed)
//     MOCK: sleep SECONDS         wait before the next reply (the stream is open, the agent shows "working")
//     MOCK: ask-permission [CMD]  a shell tool call that the agent's default mode asks a person about
//     MOCK: ask-user QUESTION     the agent's question dialog (Claude: AskUserQuestion)
//     MOCK: subagent PROMPT       start a subagent with PROMPT (its own directives are joined with " ;;; ")
//     MOCK: tool NAME JSON        any tool call, as is
//     MOCK: error STATUS [TIMES]  answer with this HTTP status, each time (or TIMES requests, then go on)
//     MOCK: headers JSON          headers of this turn's answers, errors too: {"retry-after":"5",...}
//     MOCK: error-body STATUS JSON  answer with this HTTP status and this body, each time
//     MOCK: error-event JSON      status 200, then this as the stream's error (Responses: of response.failed)
//     MOCK: usage TOKENS          the answers of this turn say that the request had so many tokens
//     MOCK: hang                  never answer (until the client goes away)
//   On one line, " ;; " stands between directives: "MOCK: say hi ;; MOCK: bash date".
//   A text without directives may be part of a play: a JSON file at LOG.plays.json, read at each request, holds a list of
//   {"text": RE, "steps": ["MOCK: ...", ...]}; the first whose RE fits the text gives it its steps.
//   Steps run in order, one tool call for each model request; then the turn ends with text.
//   A user text without directives that names a path ending in .md: the first step reads that file,
//   and the directives come from the tool result. Otherwise the answer is "Mock answer: <text>".
//   A plain user text that arrives in the middle of a turn does not stop the script; the next reply
//   starts with "(noted: <text>)".
//
// USE
//   node mock-llm.mjs --port 8765 --log requests.jsonl [--dump DIR] [--delay MS]
//   --log   one JSON line for each request: what came, what was answered (no credentials are written)
//   --dump  the full request bodies, one file each
//   --delay wait before each reply, in ms (default 150)
//   --summary-delay  wait so much longer before the summary of a compaction, in ms (default 0)
//   GET /__mock/requests  -> the same records as a JSON array;  POST /__mock/quit -> stop the server

import http from 'node:http';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import crypto from 'node:crypto';

const opt = { port: '8765', host: '127.0.0.1', log: '', dump: '', delay: '150', 'summary-delay': '0' };
for (let i = 2; i < process.argv.length; i += 2) {
  const k = process.argv[i].replace(/^--/, '');
  if (!(k in opt) || process.argv[i + 1] === undefined) { console.error(`unknown option ${process.argv[i]}`); process.exit(2); }
  opt[k] = process.argv[i + 1];
}
const baseDelay = Number(opt.delay);
const records = [];
let seq = 0;
const errorsGiven = new Map();        // the one piece of state: how often an "error" step was answered

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const uid = (p) => `${p}_${crypto.randomBytes(12).toString('hex')}`;
const tokens = (s) => Math.max(1, Math.ceil(String(s).length / 4));

// ---------------------------------------------------------------- directives

const DIRECTIVE = /^\s*(?:\d+\s*[→\t:|]\s*|[-*>]\s+)?MOCK:\s*([a-z-]+)[ \t]*(.*?)\s*$/;

function parseDirectives(text) {
  const steps = [];
  for (const line of String(text).split(/\r?\n|\s;;\s/)) {
    const m = DIRECTIVE.exec(line);
    if (m) steps.push({ op: m[1], arg: m[2] });
  }
  return steps;
}

// The first path in a text that ends in .md (the task file).
function mdPath(text) {
  const m = /(?:^|[\s"'`(@=:])((?:~|\.{0,2}\/|[\w.-])[^\s"'`()<>]*\.md)\b/.exec(text);
  return m ? m[1] : null;
}

// Text that the agent's program adds to a user message, not the person.
function stripHarness(text) {
  let t = String(text).replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '');
  t = t.replace(/<\/?pasted_content[^>]*>/g, '').trim();                        // Claude wraps long pastes
  if (/^<([a-zA-Z_-]+)[^>]*>[\s\S]*<\/\1>$/.test(t)) return '';                // <environment_context>...</...>
  if (/^# AGENTS\.md instructions/.test(t) || /^<command-(name|message|args)>/.test(t)) return '';
  if (/^Warning: apply_patch|^<session_context>/.test(t)) return '';
  return t;
}

// What a text without directives makes the model do, by the plays.
function played(text) {
  if (!opt.log || !fs.existsSync(`${opt.log}.plays.json`)) return [];
  const play = JSON.parse(fs.readFileSync(`${opt.log}.plays.json`, 'utf8')).find((p) => new RegExp(p.text).test(text));
  return play ? parseDirectives(play.steps.join('\n')) : [];
}

// The command that the model was shown: "/RE/ A=>B | C=>D", among the texts of a conversation. What it was not shown it
// can't run.
function shown(arg, texts) {
  const [, re, rest] = /^\/(.+?)\/\s*(.*)$/.exec(arg) || [, '$^', ''];
  const line = texts.flatMap((t) => String(t).split(/\r?\n/)).map((l) => /^ {4}(\S.*)$/.exec(l)).find((m) => m && new RegExp(re).test(m[1]));
  if (!line) return `echo 'mock: nobody has shown me a command like ${re.replace(/'/g, '')}'; exit 9`;
  return rest.split(' | ').filter(Boolean).reduce((c, pair) => c.replace(...pair.split('=>')), line[1]);
}

// ---------------------------------------------------------------- the script of the current turn

function jsonArg(text) {
  try { return JSON.parse(text || '{}'); } catch (e) { return { error: { type: 'mock_error', message: `mock: ${e}` } }; }
}

// What a tool result says: the exit code of a command, the session in which it still runs (Codex hands a command
// back that takes longer than about 10 s), the line that a refusal teaches.
function exitCode(text) {
  const m = /(?:^Exit code |[Ee]xited with code |[Ee]xit code:? )(\d+)/m.exec(text || '');
  return m ? Number(m[1]) : 0;
}
function running(text) {
  const m = /running with session ID (\d+)/.exec(text || '');
  return m ? m[1] : null;
}
function taught(text) {
  const m = /Write: ([\s\S]*) \(for a long text,/.exec(text || '');
  return m ? m[1] : '';
}

// items: {kind:'user', text} | {kind:'assistant', text} | {kind:'call', name, id} | {kind:'result', id, text}
// Returns what to answer now: {prefix, delay, call?, final?, error?, hang?}
function decide(items, session) {
  let script = [];          // the steps of the turn
  let open = false;         // is a turn going on
  let done = 0;             // tool calls already made in it
  let readsTask = false;    // is call 0 the read of the task file
  let prompt = '';
  let notes = [];
  let last = '';
  let results = [];         // what came of each call of the turn, in order
  let ids = [];
  const told = [];          // what is to be done where the conversation comes to hold a word
  const begin = (steps) => {
    for (const s of steps) {
      const re = s.op.startsWith('told') && /^\/(.+?)\/\s+(.*)$/.exec(s.arg);
      const m = s.op === 'told' && !re && /^(\S+)\s+(.*)$/.exec(s.arg);
      if (re) told.push({ re: new RegExp(re[1], 'g'), command: re[2], left: s.op === 'told' ? Infinity : 1 });
      if (m) told.push({ word: m[1], steps: [{ op: 'bash', arg: m[2] }] });
    }
    return steps.filter((s) => !s.op.startsWith('told'));
  };

  for (let i = 0; i < items.length; i++) {
    const it = items[i];
    if (it.kind === 'user') {
      if (/^\[Request interrupted|^<turn_aborted>/.test(it.text)) { open = false; script = []; last = 'user'; continue; }
      let text = stripHarness(it.text);
      if (!text) {
        // The program speaks: hook feedback (it may hold directives) or a notification starts a turn of its own.
        const fb = /(Stop hook feedback:[\s\S]*?)<\/system-reminder>|<hook_prompt[^>]*>([\s\S]*?)<\/hook_prompt>/.exec(it.text);
        if (fb) text = (fb[1] || fb[2]).trim();
        else if (!open && /SYSTEM NOTIFICATION/.test(it.text)) { open = true; script = [{ op: 'say', arg: 'Mock: notification noted.' }]; done = 0; results = []; ids = []; prompt = '(notification)'; readsTask = false; last = 'user'; continue; }
        else continue;
      }
      let d = begin(parseDirectives(text));
      if (!d.length) d = told.flatMap((x) => {
        const found = x.re ? [...text.matchAll(x.re)].slice(0, x.left) : [];
        x.left -= found.length;
        return found.map((m) => ({ op: 'bash', arg: x.command.replace(/\$(\d)/g, (_, n) => m[n]) }));
      });
      if (!d.length) d = (told.find((x) => x.word && text.includes(x.word)) || { steps: [] }).steps;
      if (!d.length) d = begin(played(text));
      const md = d.length ? null : mdPath(text);
      // A plain text in an open turn is a note: the turn goes on. (After a failed request it starts a new turn.)
      const failing = script.some((x) => x.op.startsWith('error') || x.op === 'hang');
      if (open && !d.length && !md && (last !== 'user' || (script.length && !failing))) { notes.push(text); last = 'note'; continue; }
      script = d; readsTask = false; done = 0; results = []; ids = []; prompt = text; notes = []; open = true;
      if (md) { script = [{ op: 'read-file', arg: md }]; readsTask = true; }
      last = 'user';
    } else if (it.kind === 'assistant') {
      // Final only when no call follows before the next user or result item.
      let hasCall = false;
      for (let j = i + 1; j < items.length && (items[j].kind === 'call' || items[j].kind === 'assistant'); j++) if (items[j].kind === 'call') hasCall = true;
      if (!hasCall) { open = false; notes = []; }
      last = 'assistant';
    } else if (it.kind === 'call') {
      ids[done++] = it.id; notes = []; last = 'call';
    } else if (it.kind === 'result') {
      if (ids.includes(it.id)) results[ids.indexOf(it.id)] = it.text;
      if (readsTask && done === 1) {
        script = [{ op: 'read-file', arg: '' }, ...begin(parseDirectives(it.text))];
        if (script.length === 1) script.push(...begin(played(it.text)));
        readsTask = false;
        if (script.length === 1) script.push({ op: 'say', arg: 'The task file holds no MOCK directives. Done.' });
      }
      last = 'result';
    }
  }

  const out = { prefix: [], delay: 0, prompt, step: done };
  for (const n of notes) out.prefix.push(`(noted: ${n.slice(0, 200)})`);
  let k = 0;                 // tool steps passed
  for (let i = 0; i < script.length; i++) {
    const s = script[i];
    if (s.op === 'say') { if (k === done) out.prefix.push(s.arg.replace(/\\n/g, '\n')); continue; }
    if (s.op === 'sleep') { if (k === done) out.delay += Number(s.arg) * 1000 || 0; continue; }
    if (s.op === 'hang') { if (k === done) { out.hang = true; return out; } continue; }
    if (s.op === 'usage') { out.usage = Number(s.arg) || 0; continue; }
    if (s.op === 'headers') { out.headers = jsonArg(s.arg); continue; }
    if (s.op === 'error-event') { if (k === done) { out.errorEvent = jsonArg(s.arg); return out; } continue; }
    if (s.op === 'error-body') {
      if (k !== done) continue;
      const m = /^(\d+)\s*(.*)$/s.exec(s.arg) || [];
      out.error = Number(m[1]) || 500; out.errorBody = jsonArg(m[2]);
      return out;
    }
    if (s.op === 'error') {
      if (k !== done) continue;
      const [status, times] = s.arg.split(/\s+/);
      const key = `${session}|${prompt}|${i}`;
      const n = errorsGiven.get(key) || 0;
      if (n < (Number(times) || Infinity)) { errorsGiven.set(key, n + 1); out.error = Number(status) || 500; return out; }
      continue;
    }
    if (s.op === 'as-taught') {
      const line = k > 0 && taught(results[k - 1]);
      if (!line) continue;
      if (k === done) { out.call = { op: 'bash', arg: line }; return out; }
      k++;
      continue;
    }
    if (s.op === 'shown') {
      if (k === done) { out.call = { op: 'bash', arg: shown(s.arg, items.map((x) => x.text || '')) }; return out; }
      k++;
      continue;
    }
    const whole = s.op === 'while' || s.op === 'to-end';
    const command = whole ? { op: 'bash', arg: s.op === 'while' ? s.arg.replace(/^\d+\s+/, '') : s.arg } : s;
    if (k === done) { out.call = command; return out; }
    k++;
    for (; whole; k++) {      // the calls that this step has made so far
      const on = running(results[k - 1]);
      const again = s.op === 'while' && exitCode(results[k - 1]) === parseInt(s.arg, 10);
      if (on === null && !again) break;
      if (k === done) { out.call = on === null ? command : { op: 'poll', arg: on }; return out; }
    }
  }
  out.final = true;
  if (!out.prefix.length) out.prefix.push(script.length ? 'Mock: all steps are done.' : `Mock answer: ${prompt.slice(0, 200)}`);
  return out;
}

// ---------------------------------------------------------------- steps -> tool calls of each agent

const has = (tools, ...names) => names.find((n) => tools.some((t) => t.name === n));

// tools: [{name, props:Set}] as the request offers them. cwd: from the system text, or ''.
function toolCall(step, tools, cwd) {
  const abs = (p) => (path.isAbsolute(p) || p.startsWith('~') || !cwd ? p : path.join(cwd, p));
  const sh = (s) => `'${s.replace(/'/g, `'\\''`)}'`;
  const props = (name) => (tools.find((t) => t.name === name) || { props: new Set() }).props;
  const shell = (command, ask) => {
    let n;
    if ((n = has(tools, 'Bash', 'bash'))) return { name: n, input: { command, description: 'Run a scripted command' } };
    if ((n = has(tools, 'exec_command'))) {
      const input = { cmd: command };
      if (ask) { input.sandbox_permissions = 'require_escalated'; input.justification = 'The mock model wants to run this outside the sandbox.'; }
      return { name: n, input };
    }
    if ((n = has(tools, 'shell_command'))) {
      const input = { command };
      if (ask) { input.sandbox_permissions = 'require_escalated'; input.justification = 'The mock model wants to run this outside the sandbox.'; }
      return { name: n, input };
    }
    if ((n = has(tools, 'shell', 'local_shell'))) return { name: n, input: { command: ['bash', '-lc', command] } };
    if ((n = has(tools, 'run_shell_command'))) return { name: n, input: { command, description: 'Run a scripted command' } };
    return null;
  };
  switch (step.op) {
    case 'bash': return shell(step.arg, false);
    case 'bash-json': try { return shell(JSON.parse(step.arg), false); } catch { return null; }
    case 'poll': return has(tools, 'write_stdin') ? { name: 'write_stdin', input: { session_id: Number(step.arg), chars: '', yield_time_ms: 5000 } } : null;
    case 'ask-permission': return shell(step.arg || 'touch mock-needs-permission', true);
    case 'read-file': {
      let n;
      if ((n = has(tools, 'Read'))) return { name: n, input: { file_path: abs(step.arg) } };
      if ((n = has(tools, 'read'))) return { name: n, input: { [props(n).has('path') && !props(n).has('filePath') ? 'path' : 'filePath']: abs(step.arg) } };
      if ((n = has(tools, 'read_file'))) return { name: n, input: { [props(n).has('absolute_path') ? 'absolute_path' : 'file_path']: abs(step.arg) } };
      return shell(`cat ${step.arg.startsWith('~') ? step.arg : sh(step.arg)}`, false);
    }
    case 'write-file': {
      const [p, ...rest] = step.arg.split(' ');
      const content = rest.join(' ').replace(/\\n/g, '\n') + '\n';
      let n;
      if ((n = has(tools, 'Write'))) return { name: n, input: { file_path: abs(p), content } };
      if ((n = has(tools, 'write'))) return { name: n, input: { filePath: abs(p), content } };
      if ((n = has(tools, 'write_file'))) return { name: n, input: { file_path: abs(p), content } };
      return shell(`printf %s ${sh(content)} > ${sh(p)}`, false);
    }
    case 'ask-user': {
      let n;
      const q = step.arg || 'Which one?';
      const options = [{ label: 'First', description: 'The first choice' }, { label: 'Second', description: 'The second choice' }];
      if ((n = has(tools, 'AskUserQuestion'))) return { name: n, input: { questions: [{ question: q, header: 'Mock', multiSelect: false, options }] } };
      if ((n = has(tools, 'request_user_input'))) return { name: n, input: { questions: [{ id: 'q1', header: 'Mock', question: q, options }] } };
      if ((n = has(tools, 'question'))) return { name: n, input: { questions: [{ question: q, header: 'Mock', options }] } };
      if ((n = has(tools, 'ask_user'))) return { name: n, input: { questions: [{ question: q, header: 'Mock', type: 'choice', options }] } };
      return null;
    }
    case 'subagent': {
      let n;
      const prompt = (step.arg || 'Say hello.').replace(/;;;/g, ';;');
      if ((n = has(tools, 'Agent', 'Task'))) return { name: n, input: { description: 'Mock subagent', prompt, subagent_type: 'general-purpose', ...(props(n).has('run_in_background') ? { run_in_background: false } : {}) } };
      if ((n = has(tools, 'spawn_agent'))) return { name: n, input: { message: prompt } };
      if ((n = has(tools, 'task'))) return { name: n, input: { description: 'Mock subagent', prompt, subagent_type: 'general' } };
      return null;
    }
    case 'tool': {
      const m = /^(\S+)\s*(.*)$/s.exec(step.arg) || [];
      try { return { name: m[1], input: JSON.parse(m[2] || '{}') }; } catch { return null; }
    }
    default: return null;
  }
}

function plan(items, tools, cwd, session) {
  const d = decide(items, session);
  if (d.call) {
    d.tool = toolCall(d.call, tools, cwd);
    if (!d.tool) {
      d.final = true;
      d.prefix.push(`Mock: the step "${d.call.op} ${d.call.arg}" cannot be done with the tools ${tools.map((t) => t.name).join(', ')}.`);
    }
  }
  d.text = d.prefix.join('\n');
  return d;
}

function cwdFrom(text) {
  const m = /(?:Primary working directory|Working directory|<cwd>|cwd)\s*:?\s*(\/[^\s<]*)/i.exec(text);
  return m ? m[1] : '';
}

// ---------------------------------------------------------------- HTTP helpers

function sse(res, headers = {}) {
  res.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-cache', connection: 'keep-alive', 'request-id': uid('req') });
  res.flushHeaders();
  return (event, data) => res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
function json(res, code, data, headers = {}) {
  const s = JSON.stringify(data);
  res.writeHead(code, { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(s), 'request-id': uid('req') });
  res.end(s);
}
async function waitWithPings(res, ms, ping) {
  const end = Date.now() + ms;
  while (Date.now() < end && !res.destroyed && !res.writableEnded) {
    await sleep(Math.min(1000, end - Date.now()));
    if (Date.now() < end) ping();
  }
}
const pieces = (s) => s.match(/[\s\S]{1,24}/g) || [];

// ---------------------------------------------------------------- Anthropic Messages

function anthropicItems(messages) {
  const items = [];
  for (const m of messages || []) {
    const blocks = typeof m.content === 'string' ? [{ type: 'text', text: m.content }] : m.content || [];
    for (const b of blocks) {
      if (b.type === 'text') items.push({ kind: m.role === 'assistant' ? 'assistant' : 'user', text: b.text });
      else if (b.type === 'tool_use') items.push({ kind: 'call', name: b.name, id: b.id });
      else if (b.type === 'tool_result') {
        const text = typeof b.content === 'string' ? b.content : (b.content || []).map((c) => c.text || '').join('\n');
        items.push({ kind: 'result', id: b.tool_use_id, text });
      }
    }
  }
  // A "system" message in the list is the program's own text.
  return items.filter((x) => x.kind !== 'system');
}

async function anthropic(req, res, body, rec) {
  const systemText = typeof body.system === 'string' ? body.system : (body.system || []).map((b) => b.text || '').join('\n');
  const msgs = (body.messages || []).filter((m) => m.role === 'user' || m.role === 'assistant');
  const tools = (body.tools || []).map((t) => ({ name: t.name, props: new Set(Object.keys((t.input_schema || {}).properties || {})) }));
  const allText = systemText + '\n' + JSON.stringify(body.messages || []).replace(/\\n/g, '\n');
  const session = req.headers['x-claude-code-session-id'] || '';
  const items = anthropicItems(msgs);
  const side = tools.length === 0;                 // titles, summaries, probes: requests without tools
  let d;
  if (side) {
    let text = 'Mock side answer.';
    const fmt = (body.output_config && body.output_config.format) || body.output_format;
    if (fmt && fmt.type === 'json_schema') text = JSON.stringify(exampleOf(fmt.schema));
    else if (/summar/i.test(JSON.stringify(body.messages || []).slice(-4000))) text = '<analysis>mock</analysis>\n<summary>Mock summary of the conversation.</summary>';
    d = { text, final: true, delay: 0 };
  } else d = plan(items, tools, cwdFrom(allText), session);
  // "Summarise this conversation" (compaction) comes with tools on and as the last user text.
  const lastUser = [...items].reverse().find((x) => x.kind === 'user');
  if (!side && lastUser && /create a detailed summary of|Your task is to create a .*summary/i.test(lastUser.text)) {
    d = { text: '<analysis>mock</analysis>\n<summary>Mock summary of the conversation.</summary>', final: true, delay: Number(opt['summary-delay']), compact: true };
  }
  note(rec, { api: 'anthropic', model: body.model, side, stream: !!body.stream, session, n_messages: msgs.length, tools: tools.map((t) => t.name), last_user: lastUser && lastUser.text.slice(0, 2000), d });
  if (d.errorBody) return json(res, d.error, d.errorBody, d.headers);
  if (d.error) return json(res, d.error, { type: 'error', error: { type: d.error === 529 ? 'overloaded_error' : d.error === 429 ? 'rate_limit_error' : d.error === 401 ? 'authentication_error' : d.error < 500 ? 'invalid_request_error' : 'api_error', message: `mock error ${d.error}` } }, d.headers);

  const content = [];
  if (d.text) content.push({ type: 'text', text: d.text });
  if (d.tool) content.push({ type: 'tool_use', id: uid('toolu'), name: d.tool.name, input: d.tool.input });
  const stop = d.tool ? 'tool_use' : 'end_turn';
  const usage = { input_tokens: d.usage || tokens(JSON.stringify(body.messages)), output_tokens: tokens(JSON.stringify(content)), cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = { id: uid('msg'), type: 'message', role: 'assistant', model: body.model || 'mock', content: [], stop_reason: null, stop_sequence: null, usage };
  const wait = d.hang ? 24 * 3600e3 : baseDelay + d.delay;
  if (!body.stream) {
    await sleep(wait);
    return json(res, 200, { ...message, content, stop_reason: stop });
  }
  const send = sse(res, d.headers);
  if (d.errorEvent) { send('error', { type: 'error', ...d.errorEvent }); return res.end(); }
  send('message_start', { type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 1 } } });
  send('ping', { type: 'ping' });
  await waitWithPings(res, wait, () => send('ping', { type: 'ping' }));
  for (let i = 0; i < content.length; i++) {
    const b = content[i];
    if (b.type === 'text') {
      send('content_block_start', { type: 'content_block_start', index: i, content_block: { type: 'text', text: '' } });
      for (const p of pieces(b.text)) { send('content_block_delta', { type: 'content_block_delta', index: i, delta: { type: 'text_delta', text: p } }); await sleep(5); }
    } else {
      send('content_block_start', { type: 'content_block_start', index: i, content_block: { type: 'tool_use', id: b.id, name: b.name, input: {} } });
      for (const p of pieces(JSON.stringify(b.input))) send('content_block_delta', { type: 'content_block_delta', index: i, delta: { type: 'input_json_delta', partial_json: p } });
    }
    send('content_block_stop', { type: 'content_block_stop', index: i });
  }
  send('message_delta', { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: usage.output_tokens } });
  send('message_stop', { type: 'message_stop' });
  res.end();
}

// A small value that fits a JSON schema (for side requests that want JSON).
function exampleOf(s, key = '') {
  if (!s) return 'mock';
  if (s.const !== undefined) return s.const;
  if (s.enum) return s.enum[0];
  const t = Array.isArray(s.type) ? s.type[0] : s.type;
  if (t === 'object' || s.properties) return Object.fromEntries(Object.entries(s.properties || {}).map(([k, v]) => [k, exampleOf(v, k)]));
  if (t === 'array') return [];
  if (t === 'boolean') return false;
  if (t === 'integer' || t === 'number') return 0;
  return /title|name/i.test(key) ? 'Mock session' : 'mock';
}

// ---------------------------------------------------------------- OpenAI Responses

function responsesItems(input) {
  const items = [];
  const txt = (c) => (typeof c === 'string' ? c : (c || []).map((x) => x.text || '').join('\n'));
  for (const it of Array.isArray(input) ? input : [{ type: 'message', role: 'user', content: String(input || '') }]) {
    const type = it.type || 'message';
    if (type === 'message') {
      if (it.role === 'user') for (const c of typeof it.content === 'string' ? [{ text: it.content }] : it.content || []) { if (c.text) items.push({ kind: 'user', text: c.text }); }
      else if (it.role === 'assistant') items.push({ kind: 'assistant', text: txt(it.content) });
    } else if (/_call$/.test(type)) items.push({ kind: 'call', name: it.name || type, id: it.call_id });
    else if (/_call_output$/.test(type)) items.push({ kind: 'result', id: it.call_id, text: typeof it.output === 'string' ? it.output : txt(it.output) || JSON.stringify(it.output) });
  }
  return items;
}

async function responses(req, res, body, rec) {
  const flat = [];
  for (const t of body.tools || []) {
    if (t.type === 'namespace' && Array.isArray(t.tools)) for (const u of t.tools) flat.push({ ...u, namespace: t.name });
    else flat.push(t);
  }
  const tools = flat.map((t) => ({ name: t.name || t.type, type: t.type, namespace: t.namespace, props: new Set(Object.keys((t.parameters || {}).properties || {})) }));
  const items = responsesItems(body.input);
  const session = req.headers['session-id'] || req.headers.session_id || body.prompt_cache_key || '';
  const fmt = body.text && body.text.format;
  const lastUser = [...items].reverse().find((x) => x.kind === 'user');
  let d;
  if (fmt && fmt.type === 'json_schema') d = { text: JSON.stringify(exampleOf(fmt.schema)), final: true, delay: 0, side: true };
  else if (tools.length === 0 || (lastUser && /CONTEXT CHECKPOINT COMPACTION|handoff summary/i.test(lastUser.text))) d = { text: 'Mock summary of the conversation.', final: true, delay: Number(opt['summary-delay']), side: true };
  else d = plan(items, tools, cwdFrom(JSON.stringify(body.input)), session);
  note(rec, { api: 'responses', model: body.model, side: !!d.side, stream: !!body.stream, session, n_messages: (body.input || []).length, tools: tools.map((t) => t.name), last_user: lastUser && lastUser.text.slice(0, 2000), d });
  if (d.errorBody) return json(res, d.error, d.errorBody, d.headers);
  if (d.error) return json(res, d.error, { error: { message: `mock error ${d.error}`, type: d.error < 500 ? 'invalid_request_error' : 'server_error', code: null } }, d.headers);

  const output = [];
  if (d.text) output.push({ type: 'message', id: uid('msg'), status: 'completed', role: 'assistant', content: [{ type: 'output_text', text: d.text, annotations: [] }] });
  if (d.tool) {
    const t = tools.find((x) => x.name === d.tool.name) || {};
    if (t.type === 'custom') output.push({ type: 'custom_tool_call', id: uid('ctc'), status: 'completed', call_id: uid('call'), name: d.tool.name, input: typeof d.tool.input === 'string' ? d.tool.input : JSON.stringify(d.tool.input) });
    else output.push({ type: 'function_call', id: uid('fc'), status: 'completed', call_id: uid('call'), name: d.tool.name, ...(t.namespace ? { namespace: t.namespace } : {}), arguments: JSON.stringify(d.tool.input) });
  }
  const it = d.usage || tokens(JSON.stringify(body.input)); const ot = tokens(JSON.stringify(output));
  const usage = { input_tokens: it, input_tokens_details: { cached_tokens: 0 }, output_tokens: ot, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: it + ot };
  const response = { id: uid('resp'), object: 'response', created_at: Math.floor(Date.now() / 1000), status: 'in_progress', model: body.model, output: [], usage: null };
  const wait = d.hang ? 24 * 3600e3 : baseDelay + d.delay;
  if (!body.stream) { await sleep(wait); return json(res, 200, { ...response, status: 'completed', output, usage }); }
  const send0 = sse(res, d.headers);
  let sn = 0;
  const send = (type, data) => send0(type, { type, sequence_number: sn++, ...data });
  send('response.created', { response });
  send('response.in_progress', { response });
  if (d.errorEvent) { send('response.failed', { response: { ...response, status: 'failed', ...d.errorEvent } }); return res.end(); }
  await waitWithPings(res, wait, () => res.write(': ping\n\n'));
  for (let i = 0; i < output.length; i++) {
    const o = output[i];
    if (o.type === 'message') {
      send('response.output_item.added', { output_index: i, item: { ...o, status: 'in_progress', content: [] } });
      send('response.content_part.added', { output_index: i, content_index: 0, item_id: o.id, part: { type: 'output_text', text: '', annotations: [] } });
      for (const p of pieces(o.content[0].text)) { send('response.output_text.delta', { output_index: i, content_index: 0, item_id: o.id, delta: p }); await sleep(5); }
      send('response.output_text.done', { output_index: i, content_index: 0, item_id: o.id, text: o.content[0].text });
    } else send('response.output_item.added', { output_index: i, item: { ...o, status: 'in_progress', ...(o.arguments ? { arguments: '' } : { input: '' }) } });
    send('response.output_item.done', { output_index: i, item: o });
  }
  send('response.completed', { response: { ...response, status: 'completed', output, usage } });
  res.end();
}

// ---------------------------------------------------------------- Gemini

// A result is known by its call's id, or by its place where the program gives none.
function geminiItems(contents) {
  const items = [];
  let calls = 0, results = 0;
  for (const c of contents || []) for (const p of c.parts || []) {
    if (p.functionCall) items.push({ kind: 'call', name: p.functionCall.name, id: p.functionCall.id || `n${calls++}` });
    else if (p.functionResponse) {
      const r = p.functionResponse.response || {};
      items.push({ kind: 'result', id: p.functionResponse.id || `n${results++}`, text: String(r.output ?? r.error ?? JSON.stringify(r)) });
    } else if (p.text && !p.thought) items.push({ kind: c.role === 'model' ? 'assistant' : 'user', text: p.text });
  }
  return items;
}

async function gemini(req, res, body, rec, model, method) {
  const tools = (body.tools || []).flatMap((t) => t.functionDeclarations || []).map((t) => {
    const schema = t.parametersJsonSchema || t.parameters || {};
    return { name: t.name, props: new Set(Object.keys(schema.properties || {})) };
  });
  const items = geminiItems(body.contents);
  const config = body.generationConfig || {};
  const schema = config.responseJsonSchema || config.responseSchema;
  const lastUser = [...items].reverse().find((x) => x.kind === 'user');
  let d;
  if (schema) d = { text: JSON.stringify(exampleOf(schema)), final: true, delay: 0, side: true };
  else if (tools.length === 0) d = { text: '<state_snapshot>Mock summary of the conversation.</state_snapshot>', final: true, delay: Number(opt['summary-delay']), side: true };
  else d = plan(items, tools, cwdFrom(JSON.stringify(body.contents).replace(/\\n/g, '\n')), '');
  note(rec, { api: 'gemini', model, side: !!d.side, stream: method !== 'generateContent', n_messages: (body.contents || []).length, tools: tools.map((t) => t.name), last_user: lastUser && lastUser.text.slice(0, 2000), d });
  if (d.errorBody) return json(res, d.error, d.errorBody, d.headers);
  if (d.error) return json(res, d.error, { error: { code: d.error, message: `mock error ${d.error}`, status: d.error === 429 ? 'RESOURCE_EXHAUSTED' : d.error < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE' } }, d.headers);
  const input = d.usage || tokens(JSON.stringify(body.contents));
  const answer = (parts, more) => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...more }], modelVersion: model, responseId: rec.id,
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: tokens(d.text), totalTokenCount: input + tokens(d.text) },
  });
  const call = d.tool ? [{ functionCall: { id: uid('call'), name: d.tool.name, args: d.tool.input } }] : [];
  rec.id = uid('resp');
  if (method === 'generateContent') {
    await sleep(d.hang ? 24 * 3600e3 : d.side ? d.delay : baseDelay + d.delay);
    return json(res, 200, answer([...(d.text ? [{ text: d.text }] : []), ...call], { finishReason: 'STOP' }));
  }
  res.writeHead(200, { ...d.headers, 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  res.flushHeaders();
  const send = (data) => res.write(`data: ${JSON.stringify(data)}\r\n\r\n`);
  await waitWithPings(res, d.hang ? 24 * 3600e3 : baseDelay + d.delay, () => {});
  for (const p of pieces(d.text || '')) { send(answer([{ text: p }])); await sleep(5); }
  send(answer(call.length ? call : [{ text: '' }], { finishReason: 'STOP' }));
  res.end();
}

// ---------------------------------------------------------------- the log and the server

function note(rec, x) {
  const { d, ...rest } = x;
  Object.assign(rec, rest, { reply: { text: d.text, tool: d.tool && { name: d.tool.name, input: d.tool.input }, error: d.error, hang: d.hang, delay_ms: d.delay, final: !!d.final, step: d.step } });
  writeRec(rec);
}
function writeRec(rec) {
  if (rec.written) return;
  rec.written = true;
  const { written, ...r } = rec;
  records.push(r);
  if (records.length > 5000) records.shift();
  if (opt.log) fs.appendFileSync(opt.log, JSON.stringify(r) + '\n');
}
function safeHeaders(h) {
  const out = {};
  for (const [k, v] of Object.entries(h)) out[k] = /authorization|api-key|cookie/i.test(k) ? '(hidden)' : v;
  return out;
}

const server = http.createServer(async (req, res) => {
  const url = new URL(req.url, 'http://x');
  const p = url.pathname;
  const rec = { n: ++seq, ts: new Date().toISOString(), method: req.method, path: p, headers: safeHeaders(req.headers) };
  try {
    const chunks = [];
    for await (const c of req) chunks.push(c);
    let raw = Buffer.concat(chunks);
    const enc = req.headers['content-encoding'];
    if (enc === 'gzip') raw = zlib.gunzipSync(raw);
    else if (enc === 'br') raw = zlib.brotliDecompressSync(raw);
    else if (enc === 'zstd' && zlib.zstdDecompressSync) raw = zlib.zstdDecompressSync(raw);
    if (p === '/__mock/requests') return json(res, 200, records);
    if (p === '/__mock/quit') { json(res, 200, {}); server.close(); return setTimeout(() => process.exit(0), 50); }
    let body = {};
    if (raw.length) { try { body = JSON.parse(raw.toString('utf8')); } catch { body = { _unparsed: raw.length }; } }
    if (opt.dump) { fs.mkdirSync(opt.dump, { recursive: true }); fs.writeFileSync(path.join(opt.dump, `${String(rec.n).padStart(4, '0')}.json`), JSON.stringify({ ...rec, body }, null, 1)); }

    if (req.method === 'POST' && /\/messages\/count_tokens$/.test(p)) { writeRec(rec); return json(res, 200, { input_tokens: tokens(raw) }); }
    if (req.method === 'POST' && /\/messages$/.test(p)) return await anthropic(req, res, body, rec);
    if (req.method === 'POST' && /\/responses$/.test(p)) return await responses(req, res, body, rec);
    const g = req.method === 'POST' && /\/models\/([^/:]+):(\w+)$/.exec(p);
    if (g && g[2] === 'countTokens') { writeRec(rec); return json(res, 200, { totalTokens: tokens(raw) }); }
    if (g && /generateContent$/i.test(g[2])) return await gemini(req, res, body, rec, g[1], g[2]);
    writeRec(rec);
    if (req.method === 'GET' && /\/models$/.test(p)) return json(res, 200, { object: 'list', data: [], models: [], has_more: false });
    if (req.method === 'HEAD' || p === '/') return json(res, 200, {});
    return json(res, 404, { type: 'error', error: { type: 'not_found_error', message: `mock: no such path ${p}` } });
  } catch (e) {
    rec.failed = String(e && e.stack || e);
    writeRec(rec);
    if (!res.headersSent) json(res, 500, { error: { message: 'mock server error: ' + e } }); else res.end();
  }
});
server.requestTimeout = 0;
server.headersTimeout = 0;
server.listen(Number(opt.port), opt.host, () => console.log(`mock-llm listens on http://${opt.host}:${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));
process.on('SIGINT', () => process.exit(0));
