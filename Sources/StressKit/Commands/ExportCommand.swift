import ArgumentParser
import Cistern

/// `cistern export`: a cache's records as JSON Lines.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the records of a cache as JSON Lines: an object on each line.",
    discussion: """
      Each line has the "key" (or "keyBase64", if it is not text), the value's bytes as "value" in base64, the times when \
      it was "created" and when it "expires", its "cost", and, if it has them, "lastUsed", "tags", "schemaVersion", and in \
      nanoseconds "grace", "idle" and "refreshAhead". A "negative" line has no value. Expired values are exported too. `cistern import` restores all of it.

      Opens the store to read. Other programs may use it at the same time; the export may contain some of their writes. An \
      existing FILE is replaced when the export is whole. \(ExitStatus.explanation)

      Examples:
        cistern export ./store articles articles.jsonl
        cistern export ./store articles --values json | jq -r 'select(.json.draft) | .key'
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name; `cistern stat` prints the names.")
  var cache: String

  @Argument(help: "The file to write. (default: standard output)")
  var file: String?

  @Option(
    help: """
      How values are written: base64; text, if they are UTF-8; json, if they are JSON without white space and with sorted \
      names, else as text.
      """)
  var values = ValueFormArgument(.base64)

  func run() async throws {
    let store = try StoreOnDisk(reading: directory)
    let partition = try store.partition(cache)
    let output = try OutputFile(file)
    var count = 0
    try partition.forEachRecord { key, _, _ in
      let key = key.copiedBytes()
      // It may have gone since.
      guard let record = partition.record(forKey: key) else { return true }
      try output.write(
        line: ExportedRecord(key: key, metadata: record.metadata, bytes: record.bytes).line(values.form))
      count += 1
      return true
    }
    try output.finish()
    try await store.close()
    Console.current.printError("\(Formatting.records(count)) of '\(cache)' exported")
  }
}

/// How values are written, by its name on the command line.
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
