// Shows moments by the clock of whoever reads them. Without it they are in UTC, and say so.

const two = (value) => String(value).padStart(2, "0");

for (const element of document.querySelectorAll("time[datetime]")) {
  const date = new Date(element.dateTime);
  if (Number.isNaN(date.getTime())) continue;
  const month = date.toLocaleString("en", { month: "short" });
  const day = `${two(date.getDate())} ${month} ${date.getFullYear()}`;
  if (element.className === "day") {
    element.textContent = day;
    continue;
  }
  element.title = element.textContent;
  element.textContent = `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
