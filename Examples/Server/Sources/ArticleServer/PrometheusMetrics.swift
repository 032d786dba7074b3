import CoreMetrics
import Synchronization

/// Metrics in memory, as text in the format that Prometheus reads.
///
/// It is a small back end for the example. A program uses a package for its monitoring system.
package final class PrometheusMetrics: MetricsFactory {
  private let series = Mutex<[SeriesName: Series]>([:])

  package init() {}

  /// The present values, one line for each series.
  package var text: String {
    let series = series.withLock { Array($0) }.sorted { $0.key < $1.key }
    return series.map { $0.value.lines($0.key) }.joined()
  }

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    makeSeries(label, dimensions, .counter)
  }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    makeSeries(label, dimensions, .gauge)
  }

  package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    makeSeries(label, dimensions, aggregate ? .summary : .gauge)
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    makeSeries(label + ".seconds", dimensions, .summary)
  }

  // The series stay for the life of the process: their number is bounded.
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyMeter(_ handler: any MeterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}

  private func makeSeries(_ label: String, _ dimensions: [(String, String)], _ kind: Series.Kind) -> Series {
    let name = SeriesName(label, dimensions)
    return series.withLock { series in
      if let present = series[name] { return present }
      let new = Series(kind)
      series[name] = new
      return new
    }
  }
}

/// The name and the labels of a series.
struct SeriesName: Hashable, Comparable, Sendable {
  let metric: String
  let labels: String

  init(_ label: String, _ dimensions: [(String, String)]) {
    metric = Self.identifier(label)
    labels = dimensions.map { "\(Self.identifier($0.0))=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
  }

  static func < (left: SeriesName, right: SeriesName) -> Bool {
    (left.metric, left.labels) < (right.metric, right.labels)
  }

  private static func identifier(_ text: String) -> String {
    String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.append(character)
      }
    }
  }
}

/// The values of one series.
final class Series: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
  enum Kind: String, Sendable {
    case counter, gauge, summary
  }

  private struct Values: Sendable {
    var value = 0.0
    var count = 0
  }

  private let kind: Kind
  private let values = Mutex(Values())

  init(_ kind: Kind) {
    self.kind = kind
  }

  func increment(by amount: Int64) { add(Double(amount)) }
  func increment(by amount: Double) { add(amount) }
  func decrement(by amount: Double) { add(-amount) }
  func reset() { values.withLock { $0 = Values() } }
  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { values.withLock { $0.value = value } }
  func record(_ value: Int64) { record(Double(value)) }
  func record(_ value: Double) { kind == .gauge ? set(value) : add(value) }
  func recordNanoseconds(_ duration: Int64) { add(Double(duration) / 1_000_000_000) }

  private func add(_ amount: Double) {
    values.withLock { values in
      values.value += amount
      values.count += 1
    }
  }

  func lines(_ name: SeriesName) -> String {
    let values = values.withLock { $0 }
    let labels = name.labels.isEmpty ? "" : "{\(name.labels)}"
    return switch kind {
    case .counter: "\(name.metric)_total\(labels) \(values.value)\n"
    case .gauge: "\(name.metric)\(labels) \(values.value)\n"
    case .summary: "\(name.metric)_sum\(labels) \(values.value)\n\(name.metric)_count\(labels) \(values.count)\n"
    }
  }
}
