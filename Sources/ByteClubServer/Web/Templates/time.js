// Shows moments by the clock of whoever reads them. Without it they are in UTC, and say so.

const two = (value) => String(value).padStart(2, "0");

for (const element of document.querySelectorAll("time[datetime]")) {
  const date = new Date(element.dateTime);
  if (Number.isNaN(date.getTime())) continue;
  const month = date.toLocaleString("en", { month: "short" });
  const day = `${two(date.getDate())} ${month} ${date.getFullYear()}`;
  if (element.className === "ago") {
    element.title = day;
    continue;
  }
  if (element.className === "day") {
    element.textContent = day;
    continue;
  }
  element.title = element.textContent;
  // Under a heading with its day in UTC, the day is told only where it is another one here.
  const isShort = element.className === "clock" && date.getDate() === date.getUTCDate();
  element.textContent = `${isShort ? "" : `${day} `}${two(date.getHours())}:${two(date.getMinutes())}`;
}

// A moment that is chosen is by that clock too.
const field = document.querySelector("input[type=datetime-local]");
if (field) {
  const zone = date => -date.getTimezoneOffset(), utc = new Date(`${field.value}Z`);
  field.value = new Date(+utc + zone(utc) * 60000).toISOString().slice(0, 16);
  field.previousElementSibling.remove();
  field.form.onsubmit = () => { field.form.zone.value = zone(new Date(field.value)); };
}
