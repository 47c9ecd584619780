from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0002_removed_messages'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='message',
            index=models.Index(fields=['scope', 'updated_at'], name='messages_changed_idx'),
        ),
    ]
