/// The result of an evaluation of a monitor's state by a waiter.
@usableFromInline
package enum WaitAnswer<Result> {
  case done(Result)
  case waiting(until: UInt64?)
}
