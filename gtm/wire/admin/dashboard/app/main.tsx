/** The page of one GTM, for whoever is on call. */
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { Frame } from "./frame.tsx";

const root = document.getElementById("page");
if (root === null) throw new Error("index.html has no #page");
root.replaceChildren();
render(<Frame />, root);
