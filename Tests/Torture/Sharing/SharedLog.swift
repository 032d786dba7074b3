import Foundation

/// An operation with the times between which it took effect.
struct LoggedOperation {
  /// The end of an operation.
  enum End {
    /// The operation returned. A read or load also returns the author of its value.
    case returned(SharedAuthor?)
    /// The process was killed before the operation returned. It took effect before the death of the process, or
    /// never.
    case killed
  }

  let author: SharedAuthor
  let operation: SharedOperation
  let begin: UInt64
  let finish: UInt64
  let end: End

  var isCertain: Bool {
    if case .returned = end { true } else { false }
  }

  /// Returns whether the operation wrote the key, or may have.
  func writes(_ key: SharedKey) -> Bool {
    guard operation.writtenKeys.contains(key) else { return false }
    if operation.loadedKey != nil, case .returned(let result) = end { return result == author }
    return true
  }

  /// Returns whether the operation certainly replaced or removed earlier values of the key.
  func supersedes(_ key: SharedKey) -> Bool { isCertain && (writes(key) || operation.removes(key)) }
}

/// The opening of a store, with what it asked for.
struct LoggedOpening {
  let time: UInt64
  let settings: String
}

/// The contents of the log of a process.
struct ProcessLog {
  var operations: [LoggedOperation] = []
  var openings: [LoggedOpening] = []
  var faults: [String] = []
}

/// The log that a process of the trial appends to. It survives the death of the process.
final class SharedLog: Sendable {
  private let descriptor: Int32

  init(path: String) {
    // The call reads the path and keeps no reference.
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
  }

  func begin(_ operation: SharedOperation, number: Int) {
    append("B \(number) \(monotonicNanoseconds()) \(operation.text)")
  }

  func end(number: Int, result: SharedAuthor? = nil) {
    append("E \(number) \(monotonicNanoseconds()) \(result?.text ?? "-")")
  }

  /// Logs that the process opened the store, with its settings as one word.
  func opened(_ settings: String) { append("O \(monotonicNanoseconds()) \(settings)") }

  /// Logs a violation.
  func fault(_ text: String) { append("F \(text.replacingOccurrences(of: "\n", with: " "))") }

  private func append(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) }
  }

  /// Reads the log of a process. An operation without an end ended with the process, at `death`.
  static func read(path: String, process: Int, generation: Int, death: UInt64) -> ProcessLog {
    var begun: [Int: (operation: SharedOperation, begin: UInt64)] = [:]
    var contents = ProcessLog()
    func add(_ number: Int, finish: UInt64, end: LoggedOperation.End) {
      guard let (operation, begin) = begun.removeValue(forKey: number) else { return }
      contents.operations.append(
        LoggedOperation(
          author: SharedAuthor(process: process, generation: generation, number: number), operation: operation,
          begin: begin, finish: finish, end: end))
    }
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    // An unterminated last line was cut off by the death of the process.
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      let words = line.split(separator: " ")
      switch words.first {
      case "F": contents.faults.append("process \(process).\(generation): \(line.dropFirst(2))")
      case "O":
        guard words.count == 3, let time = UInt64(words[1]) else { continue }
        contents.openings.append(LoggedOpening(time: time, settings: String(words[2])))
      case "B":
        guard words.count >= 5, let number = Int(words[1]), let time = UInt64(words[2]),
          let operation = SharedOperation(words.dropFirst(3))
        else { continue }
        begun[number] = (operation, time)
      case "E":
        guard words.count == 4, let number = Int(words[1]), let time = UInt64(words[2]) else { continue }
        add(number, finish: time, end: .returned(SharedAuthor(words[3])))
      default: continue
      }
    }
    for number in begun.keys.sorted() { add(number, finish: death, end: .killed) }
    return contents
  }
}

/// Returns a time that all processes of the machine share.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  // The call writes to the variable and keeps no reference.
  _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
