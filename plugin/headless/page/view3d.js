// SPDX-License-Identifier: Apache-2.0
"use strict";
// A frame to turn with the mouse, a finger or the arrow keys: triangles with smooth shading and round points, in WebGL.

const RAMP = [[0.19, 0.26, 0.53], [0.16, 0.49, 0.63], [0.33, 0.70, 0.60], [0.74, 0.86, 0.55], [0.98, 0.95, 0.72]];

function bytesOf(text) {
  const raw = atob(text), made = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) made[i] = raw.charCodeAt(i);
  return made;
}

// From the packed arrays of a view to floats; speeds are coloured by `top`, the largest of all views.
function unpack(view, top) {
  const words = new Uint16Array(bytesOf(view.positions).buffer), count = words.length / 3;
  const positions = new Float32Array(words.length), colors = new Float32Array(words.length), normals = new Float32Array(words.length);
  for (let i = 0; i < words.length; i++) positions[i] = view.min[i % 3] + words[i] / 65535 * (view.max[i % 3] - view.min[i % 3]);
  const own = bytesOf(view.rgb || view.speed);
  for (let i = 0; i < count; i++) {
    const unit = view.rgb ? 0 : Math.min(1, own[i] / 255 * (top > 0 ? view.top / top : 0)) * (RAMP.length - 1);
    const low = RAMP[Math.floor(unit)], high = RAMP[Math.ceil(unit)], t = unit - Math.floor(unit);
    for (let k = 0; k < 3; k++) colors[3 * i + k] = view.rgb ? own[3 * i + k] / 255 : low[k] + (high[k] - low[k]) * t;
  }
  const triangles = new Uint32Array(bytesOf(view.triangles).buffer);
  for (let i = 0; i < triangles.length; i += 3) {
    const [a, b, c] = [3 * triangles[i], 3 * triangles[i + 1], 3 * triangles[i + 2]], u = [], v = [];
    for (let k = 0; k < 3; k++) { u[k] = positions[b + k] - positions[a + k]; v[k] = positions[c + k] - positions[a + k]; }
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    for (const at of [a, b, c]) for (let k = 0; k < 3; k++) normals[at + k] += n[k];
  }
  return { positions, colors, normals, triangles, vertices: view.vertices, points: view.points, radius: view.radius };
}

function turning(yaw, pitch) {
  const [a, b, c, d] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  return [a, d * b, -c * b, 0, 0, c, d, 0, b, -d * a, c * a, 0, 0, 0, 0, 1]; // columns
}

class Viewer {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl", { antialias: true, preserveDrawingBuffer: true });
    if (!this.gl) return;
    this.gl.getExtension("OES_element_index_uint");
    this.program = this.build(`
      attribute vec3 position, normal, color; uniform mat4 turn; uniform vec3 center; uniform float scale, aspect, eye, size;
      varying vec3 n, c;
      void main() {
        vec3 p = (turn * vec4(position - center, 1.0)).xyz * scale;
        float w = eye - p.z, near = 0.02 * eye, far = eye + 4.0;
        n = mat3(turn) * normal; c = color;
        gl_Position = vec4(3.0 * aspect * p.x, 3.0 * p.y, (w * (far + near) - 2.0 * far * near) / (far - near), w);
        gl_PointSize = max(2.0, size / w);
      }`, `
      precision mediump float; varying vec3 n, c; uniform float flat_;
      void main() {
        vec3 m = n;
        if (flat_ > 0.5) { vec2 q = gl_PointCoord * 2.0 - 1.0; float r = dot(q, q); if (r > 1.0) discard; m = vec3(q.x, -q.y, sqrt(1.0 - r)); }
        m = normalize(m); if (m.z < 0.0) m = -m;
        float key = max(dot(m, normalize(vec3(0.4, 0.7, 0.6))), 0.0), shine = pow(max(dot(m, normalize(vec3(0.2, 0.4, 0.9))), 0.0), 40.0);
        gl_FragColor = vec4(pow(c * (0.28 + 0.75 * key) + 0.25 * shine, vec3(0.8)), 1.0);
      }`);
    this.buffers = Object.fromEntries(["position", "normal", "color", "index"].map(name => [name, this.gl.createBuffer()]));
    this.reset();
    canvas.addEventListener("pointerdown", event => { this.drag = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { this.drag = null; });
    canvas.addEventListener("pointermove", event => {
      if (!this.drag) return;
      this.turn((event.clientX - this.drag[0]) * 0.01, (event.clientY - this.drag[1]) * 0.01);
      this.drag = [event.clientX, event.clientY];
    });
    canvas.addEventListener("wheel", event => { this.zoom *= Math.exp(-event.deltaY * 0.001); this.draw(); event.preventDefault(); }, { passive: false });
    canvas.addEventListener("dblclick", () => { this.reset(); this.draw(); });
    canvas.addEventListener("keydown", event => {
      const by = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      if (by) this.turn(...by);
      else if (event.key === "+" || event.key === "-") { this.zoom *= event.key === "+" ? 1.1 : 1 / 1.1; this.draw(); }
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }
  reset() { this.yaw = -0.5; this.pitch = 0.35; this.zoom = 1; }
  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.min(1.55, Math.max(-1.55, this.pitch + pitch));
    this.draw();
  }
  build(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    return program;
  }
  // The box frames all views alike, so that steps through them do not jump.
  show(mesh, min, max) {
    if (!this.gl) return;
    const gl = this.gl;
    this.mesh = mesh;
    this.center = min.map((low, k) => (low + max[k]) / 2);
    this.size = Math.max(Math.hypot(...max.map((high, k) => high - min[k])) / 2, 1e-12);
    for (const [name, data] of [["position", mesh.positions], ["normal", mesh.normals], ["color", mesh.colors]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.index);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles, gl.STATIC_DRAW);
    this.draw();
  }
  draw() {
    if (!this.gl || !this.mesh) return;
    const gl = this.gl, canvas = this.canvas, ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.125, 0.153, 0.18, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.useProgram(this.program);
    const at = name => gl.getUniformLocation(this.program, name);
    gl.uniformMatrix4fv(at("turn"), false, turning(this.yaw, this.pitch));
    gl.uniform3fv(at("center"), this.center);
    gl.uniform1f(at("scale"), 1 / this.size);
    gl.uniform1f(at("aspect"), height / width);
    gl.uniform1f(at("eye"), 3.4 / Math.min(Math.max(this.zoom, 0.1), 50));
    gl.uniform1f(at("size"), 3 * this.mesh.radius / this.size * height);
    for (const name of ["position", "normal", "color"]) {
      const place = gl.getAttribLocation(this.program, name);
      if (place < 0) continue;
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 0, 0);
    }
    gl.uniform1f(at("flat_"), 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.index);
    gl.drawElements(gl.TRIANGLES, this.mesh.triangles.length, gl.UNSIGNED_INT, 0);
    gl.uniform1f(at("flat_"), 1);
    if (this.mesh.points) gl.drawArrays(gl.POINTS, this.mesh.vertices, this.mesh.points);
  }
}
