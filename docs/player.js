/* Plays a step's trace: moment by moment, what each warp does, at which line, and what the stages of shared memory hold.
   docs/for_doxygen.py writes the elements and the data; without this script they stay hidden. */
(function () {
"use strict";
const MS_PER_MOMENT = 300, IN_VIEW = 48, SVG = "http://www.w3.org/2000/svg";

function player(root) {
    const part = name => root.querySelector(".watch-" + name);
    const data = JSON.parse(part("data").textContent), slider = part("at"), codes = root.querySelectorAll(".watch-code");
    let run, warp = 0, at = 0, from = 0, timer = 0, svg, cursor, dragged = false;

    const span = (w, moment) => run.rows[run.warps[w]].find(s => s[0] <= moment && moment < s[1]);
    const kind = s => data.kinds[s[2]];
    const rows = () => run.groups.length + run.warps.length, inView = () => Math.min(IN_VIEW, run.moments);

    function element(name, attributes, parent) {
        const e = document.createElementNS(SVG, name);
        for (const key in attributes) e.setAttribute(key, attributes[key]);
        return parent.appendChild(e);
    }

    /* The rows: copies in flight, then the warps; a moment is a unit wide, a row a unit high. */
    function draw() {
        const names = part("names"), height = rows();
        part("lanes").textContent = "";
        svg = element("svg", {preserveAspectRatio: "none", "aria-hidden": "true"}, part("lanes"));
        svg.style.height = names.style.height = height * (height > 8 ? 14 : 20) + "px";
        names.textContent = "";
        const box = (first, last, y, k) => element("rect", {x: first, y: y + 0.06, width: last - first, height: 0.88,
            fill: k.fill, class: "box"}, svg);
        const name = text => names.appendChild(document.createElement("span")).textContent = text;
        run.groups.forEach((row, y) => {
            name(y ? "" : "in flight");
            for (const g of row) box(g[0], g[1], y, data.kinds[data.flight]);
        });
        run.warps.forEach((row, w) => {
            name("warp " + w);
            for (const s of run.rows[row]) box(s[0], s[1], run.groups.length + w, kind(s));
        });
        cursor = element("rect", {y: 0, width: 1, height: height, class: "cursor"}, svg);
    }

    /* The moments in view: those about the one that is shown, and the same as before while the mouse drags. */
    function turn() {
        if (!dragged) from = Math.max(0, Math.min(run.moments - inView(), at - (inView() >> 1)));
        svg.setAttribute("viewBox", `${from} 0 ${inView()} ${rows()}`);
    }

    /* What a stage is: copies in flight to it, stores and loads of now, or what was before. Then the kind to colour it. */
    function state(stage) {
        const now = run.warps.map((_, w) => span(w, at)).filter(s => s && s[4] === stage).map(s => kind(s).name);
        const groups = run.groups.flat().filter(g => g[2] === stage), words = [];
        if (groups.some(g => g[0] <= at && at < g[1])) words.push(["being copied", "in flight"]);
        if (now.includes("store shared")) words.push(["being written", "store shared"]);
        const read = ["multiply", "mma", "load shared"].find(name => now.includes(name));
        if (read) words.push(["being read", read]);
        if (words.length) return [words.map(w => w[0]).join(" and "), words[0][1]];
        if (groups.some(g => g[1] <= at)) return ["landed"];
        const stored = s => s[4] === stage && s[0] < at && kind(s).name === "store shared";
        return [run.rows.some(row => row.some(stored)) ? "full" : "empty"];
    }

    function does(s) {
        const to = ["copy", "store shared"].includes(kind(s).name) ? "to " : "";
        const stage = s[4] < 0 ? "" : `, ${to}stage ${s[4]}`;
        return `${kind(s).words.replace(/ \(.+\)$/, "")}${stage}; line ${s[3]}`;
    }

    function show() {
        slider.value = at;
        cursor.setAttribute("x", at);
        turn();
        const s = span(warp, at), lines = codes[data.runs.indexOf(run)].children;
        const words = s ? does(s) : "has done all it does";
        part("now").textContent = `${at + 1} of ${run.moments}: warp ${warp}: ${words}`;
        slider.setAttribute("aria-valuetext", part("now").textContent);
        const also = new Set(run.warps.map((_, w) => span(w, at)).filter(Boolean).map(other => other[3]));
        for (let i = 0; i < lines.length; ++i) {
            lines[i].classList.toggle("lit", Boolean(s) && s[3] === i + 1);
            lines[i].classList.toggle("also", also.has(i + 1));
        }
        if (s) {
            const line = lines[s[3] - 1], code = line.parentElement, y = line.offsetTop;
            if (y < code.scrollTop || y + line.offsetHeight > code.scrollTop + code.clientHeight)
                code.scrollTop = y - code.clientHeight / 2;
        }
        [...part("stages").children].forEach((box, stage) => {
            const [words, name] = state(stage), colours = data.kinds.find(k => k.name === name);
            box.className = words;
            box.style.background = colours ? colours.fill : "";
            box.style.color = colours ? colours.ink : "";
            box.lastChild.textContent = words;
        });
    }

    function go(moment) {
        at = Math.max(0, Math.min(run.moments - 1, moment));
        if (at === run.moments - 1) play(false);
        show();
    }

    function play(on) {
        clearInterval(timer);
        timer = on ? setInterval(() => go(at + 1), MS_PER_MOMENT) : 0;
        part("play").textContent = on ? "Pause" : "Play";
        part("now").setAttribute("aria-live", on ? "off" : "polite");
    }

    function toggle() {
        if (!timer && at === run.moments - 1) go(0);
        play(!timer);
    }

    function choose(index) {
        const share = run ? at / run.moments : 0;
        run = data.runs[index];
        root.querySelectorAll(".watch-run").forEach((b, i) => b.setAttribute("aria-pressed", i === index));
        codes.forEach((code, i) => { code.hidden = i !== index; });
        slider.max = run.moments - 1;
        warp = Math.min(warp, run.warps.length - 1);
        part("warp").replaceChildren(...run.warps.map((_, w) => new Option("warp " + w, w, false, w === warp)));
        part("stages").replaceChildren(...Array.from({length: run.stages}, (_, i) => {
            const box = document.createElement("div");
            box.append("stage " + i, document.createElement("br"), "");
            return box;
        }));
        draw();
        go(Math.round(share * run.moments));
    }

    function pointed(event) {
        const place = svg.getBoundingClientRect();
        const row = Math.floor((event.clientY - place.top) / place.height * rows()) - run.groups.length;
        if (event.type === "pointerdown" && run.warps[row] !== undefined) part("warp").value = warp = row;
        go(from + Math.floor((event.clientX - place.left) / place.width * inView()));
    }

    const steps = {first: () => go(0), back: () => go(at - 1), on: () => go(at + 1), last: () => go(run.moments - 1)};
    const keys = {ArrowLeft: steps.back, ArrowRight: steps.on, Home: steps.first, End: steps.last, " ": toggle};
    for (const name in steps) part(name).addEventListener("click", () => { play(false); steps[name](); });
    part("play").addEventListener("click", toggle);
    slider.addEventListener("input", () => { play(false); go(Number(slider.value)); });
    part("warp").addEventListener("change", event => { warp = Number(event.target.value); show(); });
    root.querySelectorAll(".watch-run").forEach((b, i) => b.addEventListener("click", () => choose(i)));
    root.addEventListener("keydown", event => {
        const own = event.key === " " && event.target.tagName === "BUTTON" || event.target.tagName === "SELECT";
        if (own || !keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        if (event.key !== " ") play(false);
        keys[event.key]();
    });
    const lanes = part("lanes");
    lanes.addEventListener("pointerdown", event => {
        play(false);
        dragged = true;
        lanes.setPointerCapture(event.pointerId);
        pointed(event);
    });
    lanes.addEventListener("pointermove", event => { if (dragged) pointed(event); });
    for (const end of ["pointerup", "pointercancel"]) lanes.addEventListener(end, () => { dragged = false; turn(); });
    root.hidden = false;
    choose(0);
}

document.querySelectorAll(".watch").forEach(player);
})();
