import CisternCore
import CisternTesting
import CisternTestSupport

extension Expiry {
  /// A minute, and then ten minutes of grace.
  static let minute = Expiry.after(.seconds(60), graceStale: .seconds(600))
}

extension Subject {
  /// Returns a subject in which `a` has the value -1 of this age, and an origin that answers when the gate opens.
  /// Without another answer, the origin returns the number of the call.
  static func withOlderValue(
    age: Duration, _ kind: SubjectKind, on executor: SeededExecutor,
    answer: @escaping @Sendable (_ number: Int) -> OriginAnswer<String, Int> = { .value($0) }
  ) throws -> (subject: Subject, gate: Gate, origin: ScriptedOrigin<String, Int>) {
    let subject = try Subject(kind, on: executor, expiry: .minute)
    let gate = Gate()
    let origin = ScriptedOrigin<String, Int> { _, number in .gated(gate, answer(number)) }
    subject.cache["a"] = -1
    subject.clock.advance(by: age)
    return (subject, gate, origin)
  }
}
