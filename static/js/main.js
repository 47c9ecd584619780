import { App } from "./app.js";

const boot = JSON.parse(document.getElementById("boot").textContent);
new App(boot);
