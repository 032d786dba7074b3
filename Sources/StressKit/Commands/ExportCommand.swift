import ArgumentParser
import Cistern
import InputFormats

/// `cistern export`: writes the records of a cache as JSON Lines.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the records of a cache as JSON Lines: one object on each line.",
    discussion: """
      Each line has the members "key" (or "keyBase64", if the key is not text in composed Unicode form), "value" in base64, "created", and \
      "cost". It also has "expires", "lastUsed", "tags", "schemaVersion", and, in nanoseconds, "grace", \
      "staleWhileRevalidate", "staleIfError", "idle" and "refreshAhead", if the record has them. A line with "negative" has no value. Expired values are exported, too. \
      `cistern import` restores all members.

      The command opens the store for reading. Other programs can use it at the same time, and the export can \
      contain some of their writes. An existing FILE is replaced when the export is complete. \
      Until then, the records are in FILE.partial- and the number of the process. An export removes those files of \
      processes that were killed.

      If a record is damaged, the command fails and keeps the existing FILE. With --skip-damaged, it exports the other \
      records. \(ExitStatus.explanation)

      Examples:
        cistern export ./store articles articles.jsonl
        cistern export ./store articles --values json | jq -r 'select(.json.draft) | .key'
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name; `cistern stat` prints the names.")
  var cache: String

  @Argument(help: "The file to write; - for standard output. (default: standard output)")
  var file: String?

  @Option(
    help: """
      The form of values: base64; text, or base64 if the value is not UTF-8; json, or text if the value is not JSON \
      without white space and with sorted names.
      """)
  var values = ValueFormArgument(.base64)

  @Flag(help: "Leave damaged records out, and export the others.")
  var skipDamaged = false

  func run() async throws {
    let store = try StoreOnDisk(reading: directory)
    let partition = try store.partition(cache)
    let output = try OutputFile(file)
    var count = 0
    try partition.visitRecords { key, _, _ in
      let key = key.copiedBytes()
      // The record may be damaged, or another program may have removed it since.
      guard let record = partition.record(forKey: key) else { return true }
      try output.write(
        line: ExportedRecord(key: key, metadata: record.metadata, bytes: record.bytes).line(values.form))
      count += 1
      // Nothing receives further records.
      return output.hasReader
    }
    let damagedCount = partition.damagedCount
    guard damagedCount == 0 || skipDamaged else {
      try await store.close()
      throw CommandFailure(
        "'\(cache)' has \(Formatting.count(damagedCount, "damaged record")); --skip-damaged exports the others",
        status: .negative)
    }
    try output.finish()
    try await store.close()
    // The count would include records that nothing has received.
    guard output.hasReader else { return }
    let omitted = damagedCount == 0 ? "" : "; \(Formatting.count(damagedCount, "damaged record")) left out"
    Console.current.printError("\(Formatting.count(count, "record")) of '\(cache)' exported\(omitted)")
  }
}

/// The form of exported values, as an argument of the command line.
struct ValueFormArgument: ExpressibleByArgument {
  let form: ExportedRecord.ValueForm

  init(_ form: ExportedRecord.ValueForm) {
    self.form = form
  }

  init?(argument: String) {
    guard let form = ExportedRecord.ValueForm(rawValue: argument) else { return nil }
    self.form = form
  }

  var defaultValueDescription: String { form.rawValue }

  static var allValueStrings: [String] { ExportedRecord.ValueForm.allCases.map(\.rawValue) }
}
