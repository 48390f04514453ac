// expect: value of type 'FeathersApp' has no member 'hooks'
// article: Mistakes.md
// mistake: Hooks, as in FeathersJS
import Feathers

func register(_ hooks: Hooks, on app: FeathersApp) {
    // fix: app.use(hooks: hooks)
    app.hooks(hooks)
}
