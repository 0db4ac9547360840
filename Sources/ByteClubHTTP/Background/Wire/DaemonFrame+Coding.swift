/// The frame's content has the form that everything in this folder has; its length comes before it on the wire.
extension DaemonFrame: Recordable {
    func encode(to writer: inout RecordWriter) {
        switch self {
        case .call(let number, let call):
            writer.put(Int64(0))
            writer.put(Int64(bitPattern: number))
            writer.put(call)
        case .answer(let number, let answer):
            writer.put(Int64(1))
            writer.put(Int64(bitPattern: number))
            writer.put(answer)
        case .event(let event):
            writer.put(Int64(2))
            writer.put(event)
        }
    }

    init(_ reader: inout RecordReader) throws(RecordReader.Damage) {
        switch try reader.number() {
        case 0: self = .call(number: UInt64(bitPattern: try reader.number()), try reader.value())
        case 1: self = .answer(number: UInt64(bitPattern: try reader.number()), try reader.value())
        case 2: self = .event(try reader.value())
        default: throw RecordReader.Damage()
        }
    }
}
